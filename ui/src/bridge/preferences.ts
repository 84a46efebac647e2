// What a person chose for the window, and how a choice is kept.

import { useQueryClient } from "@tanstack/react-query";

import { useText } from "../i18n/text";
import { sayProblem } from "../kit/toasts";
import type { PreferencesView } from "./generated/PreferencesView";
import { useCommand, usePreferences } from "./queries";

/** Sizes of text, percent; up to what the accessibility rules ask for. */
export const TEXT_SIZES = [90, 100, 115, 130, 150, 200];

/** The next larger or smaller size; at the end of the list it stays. */
export function nextTextSize(now: number, by: 1 | -1): number {
  const further = TEXT_SIZES.filter((size) => (by > 0 ? size > now : size < now));
  return (by > 0 ? further[0] : further.at(-1)) ?? now;
}

/** Saves at once and shows it at once; a refusal puts the old choice back. */
export function useSavePreferences() {
  const text = useText();
  const cache = useQueryClient();
  const preferences = usePreferences();
  const save = useCommand("set_preferences");
  return (change: Partial<PreferencesView>) => {
    const old = preferences.data;
    if (!old) return;
    cache.setQueryData(["preferences"], { ...old, ...change });
    save.mutate(
      { preferences: { ...old, ...change } },
      {
        onError(problem) {
          cache.setQueryData(["preferences"], old);
          sayProblem(text)(problem);
        },
      },
    );
  };
}
