// What a person decides about reports in the made-up core, for one or for many, and how far many are.

import type { Commands } from "../door";
import type { BatchView } from "../generated/BatchView";
import type { DecidedView } from "../generated/DecidedView";
import type { Group } from "../generated/Group";
import type { RowView } from "../generated/RowView";
import { problem } from "./answers";
import type { Answers } from "./answers";
import { tallied } from "./journal";
import type { Journal } from "./journal";
import { actionsOf } from "./reports";
import type { Sending } from "./sending";

export function createDecisions({ find, move }: Journal, { queue, resubmit }: Sending) {
  /** What each state permits decides, as it does in the core. */
  function decided({ ids, decision }: Commands["decide"]["takes"]): DecidedView {
    const view: DecidedView = { done: [], sent: [], refused: [] };
    for (const id of ids) {
      const { state } = find(id);
      if (!actionsOf(state).includes(decision === "not-reportable" ? "withdraw" : decision)) {
        const known = view.refused.find((one) => one.problem.params.state === state);
        if (known) known.ids.push(id);
        else
          view.refused.push({
            problem: problem("action-not-possible", { action: decision, state }, "look-again"),
            ids: [id],
          });
        continue;
      }
      view.done.push(id);
      if (decision === "resubmit") view.sent.push(resubmit(id));
      else if (decision === "hold-back") move(id, "held");
      else if (decision === "withdraw" || decision === "not-reportable") move(id, "withdrawn");
      else {
        queue(id);
        view.sent.push(id);
      }
    }
    return view;
  }
  const answers = {
    decide: decided,
    batch: ({ ids }) => batchOf(ids.map(find)),
    hold_back({ ids }) {
      for (const id of ids) move(id, "held");
      return ids.length;
    },
    release({ id }) {
      queue(id);
      return false;
    },
    withdraw({ id }) {
      move(id, "withdrawn");
      return null;
    },
    say_received({ id }) {
      move(id, "withdrawn");
      return null;
    },
    say_not_received({ id }) {
      queue(id);
      return null;
    },
  } satisfies Partial<Answers>;
  return { answers };
}

function batchOf(rows: RowView[]): BatchView {
  const waiting = rows.filter((one) => one.state === "queued");
  const until = Math.min(...waiting.map((one) => Date.parse(one.created) + 10_000));
  const count = (group: Group) => rows.filter((one) => one.group === group).length;
  const attention = rows.filter((one) => one.group === "needs-attention").map((one) => one.id);
  return {
    total: rows.length,
    byState: tallied(rows.map((one) => one.state)),
    moving: count("in-progress"),
    completed: count("completed"),
    closed: count("closed"),
    causes: Math.min(1, attention.length),
    secondsLeft: null,
    undoUntil: waiting.length > 0 && until > Date.now() ? new Date(until).toISOString() : null,
    waiting: waiting.map((one) => one.id),
    attention,
  };
}
