// The corrections of one cause on their way: one goes first, then never more at a time than were completed before, and it
// stops at the second that fails.

import { useEffect, useRef, useState } from "react";

import { problemOf } from "../bridge/door";
import type { Caller, Fix } from "../bridge/door";
import type { BatchView } from "../bridge/generated/BatchView";
import type { Problem } from "../bridge/generated/Problem";
import { useText } from "../i18n/text";
import { workGoesOn } from "../lock";
import { say } from "../kit/toasts";

/** Corrections whose verdict is awaited at a time, at most: enough to be quick, few enough to stop in time. */
const ON_THE_WAY_MAX = 20;
/** Failures after which it stops by itself. */
const FAILURES_MAX = 2;
/** Corrections that are asked about together; once all of them are completed nobody asks again. */
const PART = 50;

/** Corrections that were sent one after the other, and how far they are. */
interface Part {
  ids: number[];
  view: BatchView | undefined;
}

const isOver = ({ ids, view }: Part) =>
  ids.length === PART && view?.total === PART && view.moving === 0 && view.attention.length === 0;

/** How far a correction of many is. */
export interface Run {
  phase: "none" | "first" | "first-completed" | "rest" | "done" | "stopped";
  sent: number;
  completed: number;
  failed: number;
  /** Taken in and on hold, because it was stopped or because of what was found. */
  held: number;
  /** Taken in and not finished. */
  moving: number;
  /** Not begun. */
  left: number;
  problem: Problem | undefined;
  /** The first, and those that follow if it is completed. */
  begin: (id: number, rest?: number[]) => void;
  goOn: (ids: number[]) => void;
  stop: () => void;
  /** Nothing further is begun as long as it is paused. */
  pause: (isPaused: boolean) => void;
}

const NONE = { completed: 0, attention: 0, held: 0, moving: 0 };

const isNoneMoving = ({ moving }: typeof NONE) => moving === 0;

/** How many may await their verdict: 1, 2, 4 and so on with each round of verdicts. Where the first ones were lucky, few of
 *  the others are sent before that is known. */
const onTheWayMax = ({ completed }: typeof NONE) => Math.max(1, Math.min(ON_THE_WAY_MAX, completed));

/** Between two looks. */
const aMoment = () => new Promise((next) => setTimeout(next, 250));

const sentOf = (parts: Part[]) => parts.reduce((sum, { ids }) => sum + ids.length, 0);

function summed(parts: Part[]): typeof NONE {
  const views = parts.flatMap(({ view }) => (view ? [view] : []));
  const of = (count: (view: BatchView) => number) => views.reduce((sum, view) => sum + count(view), 0);
  return {
    completed: of(({ completed }) => completed),
    attention: of(({ attention }) => attention.length),
    held: of(({ byState }) => byState.held ?? 0),
    moving: of(({ moving }) => moving),
  };
}

/** Sends corrections one by one, never more at a time than were completed before, and stops at the second that fails.
 *  `keep` hears for which reports it is worth being kept, once that is known; the core knows which of them are sent. */
export function useRun(here: Caller, fix: Fix, keep?: (rest: number[]) => void): Run {
  const text = useText();
  const [phase, setPhase] = useState<Run["phase"]>("none");
  const [sum, setSum] = useState(NONE);
  const [problem, setProblem] = useState<Problem>();
  const parts = useRef<Part[]>([]);
  const stopped = useRef(false);
  const paused = useRef(false);
  const done = useRef(0);
  /** Corrections that were asked for and are not begun. */
  const left = useRef(0);
  /** The dialog is closed: nothing further is begun, and what was begun goes on. */
  const gone = useRef(false);
  useEffect(() => {
    gone.current = false;
    stopped.current = false;
    return () => {
      gone.current = true;
      stopped.current = true;
    };
  }, []);
  const look = async () => {
    for (const part of parts.current) {
      // Those before are over: what is asked grows with what is under way, and not with what is done.
      if (!isOver(part)) part.view = await here.call("batch", { ids: part.ids });
    }
    const now = summed(parts.current);
    setSum(now);
    const verdicts = now.completed + now.attention;
    if (verdicts !== done.current) workGoesOn();
    done.current = verdicts;
    return now;
  };
  const send = async (id: number) => {
    const given = await here.call("fix", { id, ...fix });
    const [next] = given.submissions;
    if (next !== null && next !== undefined) {
      const last = parts.current.at(-1);
      if (last && last.ids.length < PART) last.ids.push(next);
      else parts.current.push({ ids: [next], view: undefined });
    }
    workGoesOn();
  };
  /** Waits until so few have no verdict. */
  const until = async (isFew: (now: typeof NONE) => boolean) => {
    for (;;) {
      const now = await look();
      if (isFew(now) || now.attention >= FAILURES_MAX || stopped.current) return now;
      await aMoment();
    }
  };
  /** Nothing further is begun, and what has not left is held back. */
  const halt = async () => {
    stopped.current = true;
    // A refusal says that nothing was left to be held back: how it stands is looked up all the same.
    const ids = parts.current.filter((part) => !isOver(part)).flatMap((part) => part.ids);
    if (ids.length > 0) await here.call("hold_back", { ids }).catch(() => undefined);
    await look();
    setPhase("stopped");
    // What is under way gets its verdict, and that is told as well.
    for (let now = await look(); now.moving > 0 && !gone.current; now = await look()) await aMoment();
  };
  const guarded = (act: () => Promise<void>) =>
    act()
      .catch((thrown: unknown) => {
        if (gone.current) return undefined;
        setProblem(problemOf(thrown));
        return halt().catch(() => setPhase("stopped"));
      })
      .then(() => {
        // The window was locked, or another screen was opened: it is told where somebody is there to read it.
        if (!gone.current || left.current === 0) return;
        say({ tone: "attention", title: text("fix.left", { n: sentOf(parts.current), rest: left.current }) });
        left.current = 0;
      });
  const held = Math.min(sum.held, sum.attention);
  return {
    phase,
    sent: sentOf(parts.current),
    completed: sum.completed,
    failed: sum.attention - held,
    held,
    moving: sum.moving,
    left: left.current,
    problem,
    begin: (id, rest = []) =>
      void guarded(async () => {
        setPhase("first");
        await send(id);
        const now = await until(isNoneMoving);
        if (gone.current) return;
        if (now.completed !== 1 || stopped.current) return halt();
        if (rest.length > 0) keep?.(rest);
        setPhase("first-completed");
      }),
    goOn: (ids) =>
      void guarded(async () => {
        setPhase(ids.length === 0 ? "done" : "rest");
        left.current = ids.length;
        for (const id of ids) {
          const now = await until((sum) => sum.moving < onTheWayMax(sum) && !paused.current);
          if (gone.current) return;
          if (stopped.current) return halt();
          if (now.attention >= FAILURES_MAX) {
            // It has not helped: nobody goes on with it.
            keep?.([]);
            return halt();
          }
          await send(id);
          left.current -= 1;
        }
        const now = await until(isNoneMoving);
        if (gone.current) return;
        if (now.moving > 0) await halt();
        else setPhase("done");
      }),
    stop: () => void guarded(halt),
    pause(isPaused) {
      paused.current = isPaused;
    },
  };
}
