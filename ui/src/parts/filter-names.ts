// The filters of a list, as they are called where they are chosen.

import { useCodeText, useWords } from "../i18n/text";
import { PERIODS } from "../view";
import type { Column, Period, View } from "../view";
import { diseaseOf } from "./subject";

/** `isHidden`: names are; what is searched for may be one. */
export function useFilterNames(view: View & { name?: string }, isHidden = false): string[] {
  const { text } = useWords();
  const words = useCodeText();
  const { group, states, laboratory, about, timeliness, period, sort } = view;
  const search = view.search.trim();
  const names = [
    search && (isHidden ? text("views.searched") : text("reports.no-match.search", { search })),
    group && text(`group.${group}`),
    ...states.map((state) => words("state", state)),
    laboratory,
    about && (diseaseOf(text, about) ?? text("overview.disease.none")),
    timeliness && text(`overview.deadlines.${timeliness}`),
    period !== "all" && period in PERIODS && text(`period.${period as Period}`),
    // A kept view has an order; of a list that is empty none is said.
    view.name !== undefined && sort && text("views.sorted", { column: text(`column.${sort as Column}`) }),
  ];
  return names.filter((name): name is string => typeof name === "string" && name !== "");
}
