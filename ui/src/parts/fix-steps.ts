// Many reports of one cause are looked at in steps: each call of the core is short, and how far it is can be said.

import { useEffect, useState } from "react";

import { problemOf } from "../bridge/door";
import type { Caller, Fix } from "../bridge/door";
import type { CauseFieldView } from "../bridge/generated/CauseFieldView";
import type { FixView } from "../bridge/generated/FixView";
import type { Problem } from "../bridge/generated/Problem";

/** Reports that one call looks at; the core takes a thousand. */
const STEP = 100;
/** A moment without typing before a change is tried. */
const LOOK_MS = 300;

const NOTHING: FixView = { ready: [], invalid: [], unchanged: [], edited: [], example: [] };

/** What a change would do to the reports that were looked at so far. */
export interface Preview {
  view: FixView;
  looked: number;
}

/** Asks part by part, and says after each what all of them have given so far; ends early once it is not wanted. */
async function inSteps<T, All>(
  ids: number[],
  ask: (part: number[]) => Promise<T>,
  all: All,
  join: (all: All, one: T) => All,
  told: (all: All, looked: number) => boolean,
): Promise<void> {
  let joined = all;
  for (let begin = 0; begin < ids.length; begin += STEP) {
    const part = ids.slice(begin, begin + STEP);
    joined = join(joined, await ask(part));
    if (!told(joined, begin + part.length)) return;
  }
}

/** A read that failed, and what asks once more. */
export function useFailed() {
  const [error, setError] = useState<Problem | null>(null);
  const [asked, setAsked] = useState(0);
  const refetch = () => {
    setError(null);
    setAsked(asked + 1);
  };
  return { read: { error, isFetching: false, refetch }, asked, setError };
}

/** What one change would do to all of them. `looked` is how many are known of: only all of them may be acted on. */
export function usePreview(here: Caller, ids: number[], fix: Fix) {
  const [preview, setPreview] = useState<{ of: Fix } & Preview>();
  const { read, asked, setError } = useFailed();
  useEffect(() => {
    let current = true;
    setError(null);
    if (!fix.find || !fix.replace || fix.find === fix.replace) return undefined;
    const join = (all: FixView, one: FixView): FixView => ({
      ready: [...all.ready, ...one.ready],
      invalid: [...all.invalid, ...one.invalid],
      unchanged: [...all.unchanged, ...one.unchanged],
      edited: [...all.edited, ...one.edited],
      example: all.example.length > 0 ? all.example : one.example,
    });
    const told = (view: FixView, looked: number) => {
      if (current) setPreview({ of: fix, view, looked });
      return current;
    };
    const timer = setTimeout(() => {
      inSteps(ids, (part) => here.call("fix_preview", { ids: part, ...fix }), NOTHING, join, told).catch((thrown) => {
        if (!current) return;
        setPreview(undefined);
        setError(problemOf(thrown));
      });
    }, LOOK_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [here, ids, fix, asked, setError]);
  // A preview of other terms must never be acted on.
  return { preview: preview?.of === fix ? preview : undefined, read };
}

/** The values of all parts, each element once, the most frequent value first. */
export function joinedFields(all: CauseFieldView[], one: CauseFieldView[]): CauseFieldView[] {
  const paths = [...new Set([...all, ...one].map(({ path }) => path))];
  return paths.map((path) => {
    const counts = new Map<string, number>();
    for (const field of [...all, ...one].filter((field) => field.path === path)) {
      for (const { value, count } of field.values) counts.set(value, (counts.get(value) ?? 0) + count);
    }
    const values = [...counts].map(([value, count]) => ({ value, count })).toSorted((a, b) => b.count - a.count);
    return { path, values };
  });
}

/** What stands where the messages of these reports point to; `told` hears of it after each part. */
export function fieldsOf(here: Caller, ids: number[], told: (fields: CauseFieldView[]) => boolean): Promise<void> {
  return inSteps(ids, (part) => here.call("cause_fields", { ids: part }), [], joinedFields, told);
}
