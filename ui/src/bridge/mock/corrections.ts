// Corrections in the made-up core: a report is edited and sent anew, alone or with others of the same cause.

import type { SuggestedView } from "../generated/SuggestedView";
import type { Answers } from "./answers";
import { detail } from "./detail";
import { fieldsOf, foundIn, privacyOf } from "./draft";
import type { Journal } from "./journal";
import type { Sending } from "./sending";

export function createCorrections({ find }: Journal, { correct }: Sending) {
  /** Where the report would lie once it is corrected: it fails no more. */
  const mended = (id: number) => find(id).file.replace("fails", "corrected");
  const answers = {
    correct_with_file: ({ id, path }) => correct(id, path),
    correct_with_text: ({ id }) => correct(id, mended(id)),
    look_at_draft: ({ id, text }) => ({
      messages: foundIn(text),
      readable: true,
      fields: fieldsOf(text),
      privacy: privacyOf(text),
      reducible: privacyOf(text)?.tooMuch ?? false,
      changes: [
        { line: 1, removed: detail(find(id), null).source.split("\n")[0] ?? "", added: text.split("\n")[0] ?? "" },
      ],
      changed: 1,
      vanished: [],
    }),
    edit_draft: ({ text }) => text,
    remove_value: () => ({ text: null, refusal: "needed" }),
    apply_suggestions: ({ text, only }) => suggested(text, only),
    keep_draft: () => null,
    draft: () => null,
    came_back: () => [],
    cause_fields: () => [{ path: "Patient.address.postalCode", values: [{ value: "1227", count: 3 }] }],
    unfinished_fixes: () => [],
    keep_fix: () => null,
    fix_preview: ({ ids, find: old, replace: fresh }) => ({
      ready: ids,
      invalid: [],
      unchanged: [],
      edited: [],
      example: [{ line: 171, removed: `"postalCode": "${old}"`, added: `"postalCode": "${fresh}"` }],
    }),
    fix: ({ id }) => correct(id, mended(id)),
  } satisfies Partial<Answers>;
  return { answers };
}

/** The text with what is suggested for one element, or for all. */
function suggested(text: string, only: string | null): SuggestedView {
  const put = foundIn(text)
    .flatMap(({ suggestion }) => suggestion ?? [])
    .filter((one) => only === null || one.expression === only);
  const changes = put.map(({ before, value, path }) => {
    const name = path.split(".").at(-1);
    return { line: 30, removed: `"${name}": "${before}"`, added: `"${name}": "${value}"` };
  });
  const after = put.reduce((draft, { before, value }) => draft.replace(`"${before}"`, `"${value}"`), text);
  return { text: after, count: put.length, changes, changed: changes.length };
}
