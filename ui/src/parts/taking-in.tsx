// A list that is being taken in, at the bottom of every screen: how far that is, and the way back. What takes no time is
// not shown.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Undo2 } from "lucide-react";
import { useEffect, useState } from "react";
import type { ReactNode } from "react";

import { door } from "#door";

import { followJournal } from "../bridge/queries";
import { useText } from "../i18n/text";
import { Button } from "../kit/controls";
import { workGoesOn } from "../lock";
import { sayProblem } from "../kit/toasts";
import css from "./batch.module.css";
import { useUndoKey } from "./undo-key";

/** Milliseconds before it is shown. */
const SHOWN_AFTER = 400;
/** Milliseconds between two looks. */
const LOOKED_EVERY = 250;

/** What takes back a list that is still being taken in, and was handed over by the page before this one was loaded. What
 *  became of it is told by a notice. */
export function useTakenInBefore(): AbortController | null {
  const text = useText();
  const cache = useQueryClient();
  const [stop, setStop] = useState<AbortController | null>(null);
  useEffect(() => {
    let isGone = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (found: AbortController | null) => {
      const { underWay } = await door.call("taking");
      if (isGone) return;
      if (!underWay) {
        if (found) followJournal(cache);
        return setStop(null);
      }
      const stop = found ?? new AbortController();
      if (!found) {
        const here = door.here();
        stop.signal.addEventListener("abort", () => void here.call("stop_taking").catch(sayProblem(text)));
        setStop(stop);
      }
      timer = setTimeout(() => void look(stop).catch(over), LOOKED_EVERY);
    };
    // Where it cannot be looked at nothing is shown of it: the notice tells what became of it.
    const over = () => isGone || setStop(null);
    void look(null).catch(over);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [cache, text]);
  return stop;
}

/** `children`: what stands there until then. */
export function TakingIn({ stop, children }: { stop: AbortController; children: ReactNode }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER);
    return () => clearTimeout(timer);
  }, []);
  return isShown ? <Bar stop={stop} /> : children;
}

function Bar({ stop }: { stop: AbortController }) {
  const text = useText();
  const { data } = useQuery({
    queryKey: ["taking"],
    queryFn: () => door.call("taking"),
    refetchInterval: LOOKED_EVERY,
    gcTime: 0,
  });
  const [isStopped, setStopped] = useState(stop.signal.aborted);
  const undo = () => {
    stop.abort();
    setStopped(true);
  };
  const [since] = useState(Date.now);
  useUndoKey(since, undo);
  const { done, total } = data ?? { done: 0, total: 0, underWay: true };
  // Who waits for it is not away: a locked window would not hear what became of it.
  useEffect(workGoesOn, [done]);
  return (
    <section
      className={css.batch}
      data-keeps-clear
      data-takes-focus="own"
      aria-label={text("batch.label")}
      data-testid="taking"
    >
      <div
        className={css.line}
        role="progressbar"
        aria-label={text("batch.taking")}
        aria-valuemin={0}
        aria-valuemax={Math.max(1, total)}
        aria-valuenow={done}
      >
        <span className={css.countdown} style={{ width: `${(100 * done) / Math.max(1, total)}%` }} />
      </div>
      <div className={css.words}>
        <strong>
          {isStopped
            ? text("batch.taking-back")
            : total === 0
              ? text("batch.taking")
              : text("batch.taken-in", { done, total })}
        </strong>
        <span role="status" className="visually-hidden">
          {text(isStopped ? "batch.taking-back" : "batch.said.taking")}
        </span>
      </div>
      <div className={css.actions}>
        <Button icon={Undo2} autoFocus onPress={undo} isPending={isStopped} data-testid="undo">
          {text("batch.undo")}
        </Button>
      </div>
    </section>
  );
}
