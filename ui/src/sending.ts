// What one press of Send hands over, and what becomes of the list afterwards.

import { useQueryClient } from "@tanstack/react-query";
import type { Dispatch, SetStateAction } from "react";

import { door } from "#door";

import type { Caller, HandedList } from "./bridge/door";
import type { CandidateView } from "./bridge/generated/CandidateView";
import type { HandedView } from "./bridge/generated/HandedView";
import type { IntakeView } from "./bridge/generated/IntakeView";
import type { StatusView } from "./bridge/generated/StatusView";
import { followJournal } from "./bridge/queries";
import { useText } from "./i18n/text";
import type { Text } from "./i18n/text";
import { isToGo, leftOf, questions, repeated, tally, useIntake } from "./intake";
import type { Held, Source } from "./intake";
import { say, sayProblem } from "./kit/toasts";

interface Choices {
  again: ReadonlySet<string>;
  beside: ReadonlySet<string>;
  setAgain: Dispatch<SetStateAction<ReadonlySet<string>>>;
  separate: boolean;
  setSeparate: (on: boolean) => void;
}

/** Sends what is on the list, in one call; what is known already only where that was asked for. */
export function useSend({ again, setAgain, beside, separate, setSeparate }: Choices) {
  const text = useText();
  const intake = useIntake();
  const cache = useQueryClient();
  const send = async () => {
    const here = door.here();
    const status = () => cache.getQueryData<StatusView>(["status"]);
    const before = status();
    const asked = questions(intake.sources);
    const goes = (source: Source) => isToGo(source, again, beside, asked);
    const waits = (source: Source) => tally([source], beside, asked).asked > 0;
    // It is looked at again afterwards: what it was asked about beside may have gone.
    const undecided = intake.sources.filter((source) => !source.problem && waits(source));
    const sendable = intake.sources.filter((source) => !source.problem && goes(source));
    // What waits for somebody's decision stays on the list.
    const stays = intake.sources.filter((source) => !source.problem && !goes(source) && !waits(source));
    const stop = new AbortController();
    stop.signal.addEventListener("abort", () => void here.call("stop_taking").catch(sayProblem(text)));
    intake.takes(stop);
    try {
      const view = await here.call(
        "hand_over",
        listOf(sendable, { again, beside, separate, asked }, before?.endpointId ?? ""),
      );
      const parts = [...view.items, view.gone];
      // Each cause once: it is the same for all that it concerns.
      const problems = new Map(parts.flatMap(({ problem }) => (problem ? [[problem.code, problem]] : [])));
      problems.forEach(sayProblem(text));
      const n = parts.flatMap(({ submissions }) => submissions.filter((id) => id !== null)).length;
      if (status()?.room !== before?.room) {
        const { takenBack: back } = view;
        const title = back ? onHold(text, back.length, n) : text("send.other-room", { n });
        say({ tone: "attention", title, ...(!back && { more: text("send.other-room.more") }), isOfChange: true });
        return;
      }
      const rest = leftOf(sendable, again, view);
      const went = new Set(sendable.map(({ path }) => path));
      // What was marked meanwhile stays so.
      setAgain((now) => new Set([...[...now].filter((path) => !went.has(path)), ...rest.again]));
      // The next list is another one; what is left of this one is not.
      if (n > 0 && rest.left.anew.length === 0) setSeparate(false);
      const isAnySettled = view.items.some(({ files, failed }) => files.length > failed.length);
      const stayed = isAnySettled ? stays : [];
      const left = { gone: [...rest.left.gone, ...stayed], anew: [...rest.left.anew, ...undecided] };
      intake.sent([...view.items, goneOf(view.gone, sendable), notHandedOver(stayed)], left);
      if (!stop.signal.aborted) return;
      if (n > 0) intake.undone(await takenBack(here, view));
      else say({ tone: "done", title: text("batch.none") });
    } catch (thrown) {
      sayProblem(text)(thrown);
    } finally {
      intake.takes(null);
      followJournal(cache);
    }
  };
  return { send: () => void send(), isPending: intake.taking !== null };
}

/** How many are on hold of so many. */
export const onHold = (text: Text, held: number, n: number) =>
  held < n ? text("batch.undone-some", { held, rest: n - held }) : text("batch.undone", { n });

/** Holds back what was taken in, where the core had taken in all of it before it heard that it is taken back. */
async function takenBack(here: Caller, { items, takenBack: back }: HandedView): Promise<Held> {
  const ids = items.flatMap(({ submissions }) => submissions.filter((id) => id !== null));
  const left = items.flatMap(({ failed }) => failed).length;
  const before = await here.call("batch", { ids });
  if (back) return { count: before.byState.held ?? 0, ids: back, left };
  if (before.waiting.length > 0) await here.call("hold_back", { ids: before.waiting });
  const { byState, waiting } = await here.call("batch", { ids });
  return { count: byState.held ?? 0, ids: waiting.length === 0 ? before.waiting : [], left };
}

/** What is handed over, in the order in which it was chosen. */
function listOf(
  sources: Source[],
  choices: Pick<Choices, "again" | "beside" | "separate"> & { asked: ReadonlySet<CandidateView> },
  endpoint: string,
): HandedList {
  const { again, beside, separate, asked } = choices;
  const waits = (view: CandidateView) => asked.has(view) && !beside.has(view.digest);
  const all = sources.flatMap((source) => source.found ?? []);
  const found = all.filter((view) => !waits(view));
  const corrections = found.flatMap(({ corrects, digest }) =>
    corrects?.possible ? [{ id: corrects.id, digest }] : [],
  );
  return {
    items: sources.map(({ path, pasted }) => pasted ?? { path }),
    again: repeated(sources.filter(({ path }) => again.has(path))).map(({ digest }) => digest),
    // The core finds them by itself as well: named, they are nothing else by then.
    corrections: separate || corrections.length > SHOWN_MAX ? [] : corrections,
    shown: shownOf(found),
    left_out: [
      ...new Set([
        ...all.filter(waits).map(({ digest }) => digest),
        ...sources.flatMap(({ without }) => [...(without ?? [])]),
      ]),
    ],
    // Of these a person was shown the report beside which they go. What is found beside another one by then is asked.
    beside: [...new Set(found.filter((view) => asked.has(view)).map(({ digest }) => digest))],
    separate,
    endpoint,
  };
}

/** Contents named in one call at most. */
const SHOWN_MAX = 10_000;

/** What was seen: a system may write there while somebody looks. Too many to be named go as they lie. */
function shownOf(found: CandidateView[]): string[] | null {
  const digests = new Set(found.flatMap(({ digest }) => (digest ? [digest] : [])));
  return digests.size > SHOWN_MAX ? null : [...digests];
}

/** What was shown and lies nowhere any more, under the names that it was shown by: nobody sends it. */
function goneOf(gone: IntakeView, sources: Source[]): IntakeView {
  const shown = new Map(sources.flatMap((source) => source.found ?? []).map((file) => [file.digest, file]));
  const files = gone.files.flatMap(({ digest, verdict, messages }) => {
    const file = shown.get(digest);
    return file ? [{ ...file, verdict, messages }] : [];
  });
  return { files, submissions: files.map(() => null), failed: [], problem: null };
}

/** What stays here is told with what went, as what became no submission. */
function notHandedOver(sources: Source[]): IntakeView {
  const files = sources.flatMap((source) => source.found ?? []);
  return { files, submissions: files.map(() => null), failed: [], problem: null };
}
