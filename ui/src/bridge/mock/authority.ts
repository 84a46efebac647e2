// What the authority says it has, when the made-up core asks.

import type { Commands } from "../door";
import type { AskedView } from "../generated/AskedView";
import type { Processing } from "../generated/Processing";
import type { RowView } from "../generated/RowView";
import type { Answers } from "./answers";
import type { Journal } from "./journal";
import { masked } from "./reports";

const NOTHING: AskedView = { endpoint: "FOPH", total: null, hits: [], messages: [], unreadable: 0, further: null };

export function createAuthority({ rows }: Journal) {
  const answers = {
    ask_authority: (takes) => found(rows, takes),
    ask_further: () => NOTHING,
  } satisfies Partial<Answers>;
  return { answers };
}

function found(rows: readonly RowView[], { query, reveal }: Commands["ask_authority"]["takes"]): AskedView {
  const hits = rows
    .filter(isAtAuthority)
    .slice(0, 6)
    .filter((row) => query.status === null || row.state === query.status)
    .map((row, at) => ({
      id: `5d1f0a2c-${1000 + row.id}`,
      status: at === 1 ? ("completed" as const) : row.state,
      identifiers: [`urn:uuid:3f6e2c1a-0b5d-4e7f-9a8b-00000000${1000 + row.id}`],
      date: row.updated,
      lastUpdated: row.updated,
      messages: row.message ? [row.message] : [],
      row: at === 2 ? null : { ...row, patient: reveal || !row.patient ? row.patient : masked(row.patient) },
    }));
  return {
    ...NOTHING,
    total: hits.length + 136,
    hits: query.identifier ? [] : hits,
    further: query.identifier ? null : 1,
  };
}

function isAtAuthority(row: RowView): row is RowView & { state: Processing } {
  return row.state === "in-progress" || row.state === "completed" || row.state === "failed";
}
