// Chosen reports as a table for other programs. It names no patient: neither their names nor those of files, which may
// hold them, nor what messages quote.

import { door } from "#door";

import type { RowView } from "../bridge/generated/RowView";
import { ALL } from "../bridge/queries";
import { humanised } from "../i18n/text";
import type { TextId, Words } from "../i18n/text";
import { diseaseOf, testOf } from "./subject";
import { csv } from "./table-text";

/** Rows of a page: the most that the core gives. */
const PAGE = 500;

const COLUMNS: TextId[] = [
  "table.number",
  "table.received",
  "column.updated",
  "column.state",
  "column.disease",
  "table.test",
  "table.code",
  "column.laboratory",
  "table.document",
  "table.rule",
  "table.endpoint",
  "table.environment",
];

export async function tableOf(ids: number[], { text }: Words): Promise<string> {
  const rows: RowView[] = [];
  let before: number | null = null;
  do {
    const query = { ...ALL, ids, before, limit: PAGE };
    const page: { rows: RowView[]; next: number | null } = await door.call("list", { query, reveal: false });
    rows.push(...page.rows);
    before = page.next;
  } while (before !== null);
  const word = (family: string, code: string) => text.code(`${family}.${code}`) ?? humanised(code);
  return csv([
    COLUMNS.map((column) => text(column)),
    ...rows.map((row) => [
      row.id,
      row.created,
      row.updated,
      word("state", row.state),
      row.disease ? diseaseOf(text, row) : row.subject,
      testOf(text, row),
      row.code,
      row.laboratory,
      row.documentIdentifier,
      row.message ? (row.message.rule ?? row.message.code) : null,
      row.endpoint,
      word("environment", row.environment),
    ]),
  ]);
}
