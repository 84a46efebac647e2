// The seconds until an instant. All that count read one clock: two that are set going at different moments would differ.

import { useEffect, useSyncExternalStore } from "react";

const LOOK_MS = 200;

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function look(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(look, LOOK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const read = () => {
  // Nobody has looked at it meanwhile.
  if (timer === undefined) now = Date.now();
  return now;
};
const still = () => () => undefined;

/** Whole seconds until an instant; `onEnd` once it is there. */
export function useSecondsLeft(until: string | null, onEnd: () => void): number {
  const end = until === null ? 0 : Date.parse(until);
  const seconds = useSyncExternalStore(end === 0 ? still : listen, () =>
    end === 0 ? 0 : Math.max(0, Math.ceil((end - read()) / 1000)),
  );
  const isOver = seconds === 0;
  useEffect(() => {
    if (end !== 0 && isOver) onEnd();
    // The end is what matters; whoever is told may be another closure each time.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [end, isOver]);
  return seconds;
}
