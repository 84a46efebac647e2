// One decision for many reports, one call after the other: it can be stopped, and says how far it came.

import { useEffect, useRef, useState } from "react";

import { door } from "#door";

import { problemOf } from "../bridge/door";
import type { Caller } from "../bridge/door";
import { useText } from "../i18n/text";
import { workGoesOn } from "../lock";
import { say, sayProblem } from "../kit/toasts";

export interface Many {
  busy: boolean;
  each: (ids: number[], act: (here: Caller, id: number) => Promise<unknown>) => void;
  /** Nothing further is begun. */
  stop: () => void;
}

/** It stops at the first that cannot follow, when it is told to, and when its screen is left. */
export function useMany(onEnd: () => void): Many {
  const text = useText();
  const [busy, setBusy] = useState(false);
  const stopped = useRef(false);
  useEffect(
    () => () => {
      stopped.current = true;
    },
    [],
  );
  const run = async (ids: number[], act: (here: Caller, id: number) => Promise<unknown>) => {
    // The numbers are those of this room: in another one they would be other reports.
    const here = door.here();
    stopped.current = false;
    setBusy(true);
    let done = 0;
    try {
      for (const id of ids) {
        if (stopped.current) break;
        await act(here, id);
        workGoesOn();
        done += 1;
      }
      if (done === ids.length) say({ tone: "done", title: text("correct-list.done", { n: done }) });
      else say({ tone: "progress", title: text("correct-list.cancelled", { n: done, rest: ids.length - done }) });
    } catch (thrown) {
      sayProblem(text)(problemOf(thrown));
      if (done > 0) say({ tone: "progress", title: text("correct-list.stopped", { n: done }) });
    } finally {
      setBusy(false);
      onEnd();
    }
  };
  return {
    busy,
    each: (ids, act) => void run(ids, act),
    stop() {
      stopped.current = true;
    },
  };
}
