// The journal of the made-up core: its reports, the newest first.

import type { CountsView } from "../generated/CountsView";
import type { Group } from "../generated/Group";
import type { RowView } from "../generated/RowView";
import type { State } from "../generated/State";
import type { StatusView } from "../generated/StatusView";
import { problem } from "./answers";
import type { Answers } from "./answers";
import { detail } from "./detail";
import { UNKNOWN_CODE, messageFor } from "./messages";
import { actionsOf, groupOf, row } from "./reports";

export type Journal = ReturnType<typeof createJournal>;

/** A journal with so many reports; `changed` is told of each new revision. */
export function createJournal(count: number, now: number, changed: (revision: number) => void) {
  const rows: RowView[] = [];
  let next = 1;
  let revision = 1;
  for (let at = count - 1; at >= 0; at -= 1) add((id) => row(id, at, now));

  /** Enters a report, which is made for its number. */
  function add(made: (id: number) => RowView): RowView {
    const of = made(next);
    next += 1;
    rows.unshift(of);
    return of;
  }
  function find(id: number): RowView {
    const of = rows.find((one) => one.id === id);
    if (!of) throw problem("no-such-submission", { id: String(id) }, "look-again");
    return of;
  }
  function move(id: number, state: State): void {
    const of = find(id);
    Object.assign(of, {
      state,
      group: groupOf(state),
      actions: actionsOf(state),
      updated: new Date().toISOString(),
      due: groupOf(state) === "completed" || state === "in-progress" ? null : of.due,
      message: state === "failed" ? UNKNOWN_CODE : messageFor(state, id),
    });
    revision += 1;
    changed(revision);
  }
  const answers = {
    detail({ id }) {
      const of = find(id);
      return detail(of, of.patient);
    },
  } satisfies Partial<Answers>;
  const status = () => ({ counts: countsOf(rows), revision }) satisfies Partial<StatusView>;
  return { rows: rows as readonly RowView[], add, find, move, answers, status };
}

/** How often each of these words occurs. */
export function tallied(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const one of words) counts[one] = (counts[one] ?? 0) + 1;
  return counts;
}

function countsOf(rows: readonly RowView[]): CountsView {
  const of = (group: Group) => rows.filter((one) => one.group === group).length;
  return {
    needsAttention: of("needs-attention"),
    inProgress: of("in-progress"),
    completed: of("completed"),
    closed: of("closed"),
    byState: tallied(rows.map((one) => one.state)),
  };
}
