// When the window locks itself: after some minutes without key or pointer, and at once when it is told to.

import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";

import { door } from "#door";

import type { StatusView } from "./bridge/generated/StatusView";
import { dismissAll } from "./kit/toasts";

/** A step of what somebody began and waits for. */
const WORK = "work-goes-on";
/** Signs of somebody being there. */
const SIGNS = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", WORK] as const;
/** How often it is looked at; a sleeping computer looks again when it wakes. */
const LOOK_MS = 2_000;

/** Milliseconds since the last sign: by the wall clock too, which goes on while the computer sleeps. */
export function idleFor(last: { wall: number; steady: number }, now: { wall: number; steady: number }): number {
  return Math.max(now.wall - last.wall, now.steady - last.steady);
}

/**
 * A step of a long work is done, and the window does not lock itself in the middle of it. Work that stands still is no
 * sign: names would stay on a screen that everybody has left.
 */
export function workGoesOn(): void {
  document.dispatchEvent(new Event(WORK));
}

const present = () => ({ wall: Date.now(), steady: performance.now() });

/** Locks: the core first refuses names from then on; what was shown is forgotten here. */
export function useLock(): () => void {
  const cache = useQueryClient();
  return useCallback(() => {
    cache.setQueryData<StatusView>(["status"], (old) => old && { ...old, locked: true });
    // What goes wrong shows in the status, which is asked again in any case.
    void door
      .call("lock")
      .catch(() => null)
      .then(() => cache.invalidateQueries({ queryKey: ["status"] }));
  }, [cache]);
}

/** Forgets everything with a name as soon as the window is locked, whoever locked it. */
export function useForgetting(locked: boolean, forget: () => void): void {
  const cache = useQueryClient();
  const latest = useRef(forget);
  useEffect(() => {
    latest.current = forget;
  });
  useEffect(() => {
    if (!locked) return;
    cache.removeQueries({ queryKey: ["list"] });
    cache.removeQueries({ queryKey: ["detail"] });
    cache.removeQueries({ queryKey: ["lost_reports"] });
    dismissAll();
    latest.current();
  }, [locked, cache]);
}

/** Locks after so many minutes without a sign of somebody. */
export function useIdleLock(minutes: number | undefined, locked: boolean, lock: () => void): void {
  useEffect(() => {
    if (minutes === undefined || locked) return;
    let last = present();
    const seen = () => {
      last = present();
    };
    const look = () => {
      if (idleFor(last, present()) >= minutes * 60_000) lock();
    };
    for (const sign of SIGNS) document.addEventListener(sign, seen, { capture: true, passive: true });
    const timer = setInterval(look, LOOK_MS);
    document.addEventListener("visibilitychange", look);
    return () => {
      for (const sign of SIGNS) document.removeEventListener(sign, seen, { capture: true });
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [minutes, locked, lock]);
}
