// Sending in the made-up core: what is handed over goes its way, and an authority of its own answers after a while.

import type { CandidateView } from "../generated/CandidateView";
import type { IntakeView } from "../generated/IntakeView";
import type { State } from "../generated/State";
import type { StatusView } from "../generated/StatusView";
import { problem } from "./answers";
import type { Answers } from "./answers";
import { look } from "./files";
import type { Journal } from "./journal";
import { actionsOf, candidate, named, row } from "./reports";

export type Sending = ReturnType<typeof createSending>;

/** Sends with `step` milliseconds between the steps of a submission. */
export function createSending({ add, find, move }: Journal, step: number) {
  let paused = false;

  /** Lets a queued submission run to its end. */
  function run(id: number, fails: boolean, wait: number): void {
    const to = (state: State, after: number, from: State) =>
      setTimeout(() => find(id).state === from && move(id, state), after);
    to("sending", wait, "queued");
    to("in-progress", wait + step, "sending");
    to(fails ? "failed" : "completed", wait + 2 * step, "in-progress");
  }
  function queue(id: number): void {
    move(id, "queued");
    run(id, false, 1000);
  }
  function submit(view: CandidateView, corrects: number | null, wait: number): number | null {
    if (view.verdict === "refused") return null;
    const of = add((id) => ({ ...row(id, id, Date.now()), file: view.file, ...named(view), corrects }));
    of.created = new Date().toISOString();
    of.message = null;
    move(of.id, view.verdict === "errors" ? "held" : "queued");
    if (of.state === "queued") run(of.id, /fails/.test(view.file), wait);
    return of.id;
  }
  function intake(path: string, again: (digest: string) => boolean, corrects: number | null, wait: number): IntakeView {
    const files = look(path);
    const submissions = files.map((view) =>
      view.verdict === "known" && !again(view.digest) ? null : submit(view, corrects, wait),
    );
    return { files, submissions, failed: [], problem: null };
  }
  /** What was taken in stands in the place of that report. */
  function replace(id: number, view: IntakeView): IntakeView {
    const by = view.submissions[0];
    if (by) {
      move(id, "superseded");
      find(id).correctedBy = by;
    }
    return view;
  }
  /** Sends what lies at a path in the place of a report. */
  function correct(id: number, path: string): IntakeView {
    return replace(
      id,
      intake(path, () => true, id, 500),
    );
  }
  /** Sends the same content again. */
  function resubmit(id: number): number {
    const of = find(id);
    if (!actionsOf(of.state).includes("resubmit")) {
      throw problem("action-not-possible", { action: "resubmit", state: of.state }, "look-again");
    }
    const view = { ...candidate(of.file, id), ...named(of), verdict: "ready" as const };
    const submissions = [submit(view, id, 500)];
    return replace(id, { files: [view], submissions, failed: [], problem: null }).submissions[0] ?? 0;
  }
  const answers = {
    hand_over: ({ items, again }) => ({
      items: items.map((item) =>
        intake("path" in item ? item.path : item.name, (digest) => again.includes(digest), null, 10_000),
      ),
      gone: { files: [], submissions: [], failed: [], problem: null },
      takenBack: null,
    }),
    taking: () => ({ done: 0, total: 0, underWay: false }),
    stop_taking: () => false,
    resubmit: ({ id }) => resubmit(id),
    set_paused(takes) {
      ({ paused } = takes);
      return null;
    },
  } satisfies Partial<Answers>;
  const status = () => ({ paused, workedElsewhere: false }) satisfies Partial<StatusView>;
  return { queue, correct, resubmit, answers, status };
}
