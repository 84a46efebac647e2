// Reports that are chosen together. The choice stays while the list is filtered otherwise: it names reports, no places.

import { useMemo, useState } from "react";

export interface Selection {
  ids: ReadonlySet<number>;
  /** Chooses a report, or no longer; from here a range begins. */
  toggle(id: number): void;
  /** Chooses all from where the last one was chosen to this one, as they stand in the list. */
  extend(id: number, rows: readonly { id: number }[]): void;
  /** Chooses these and no others. */
  choose(ids: Iterable<number>): void;
  clear(): void;
}

/** All rows between two reports, both included; the last alone where the first is not in the list any more. */
export function between(rows: readonly { id: number }[], first: number | null, last: number): number[] {
  const [from, to] = [rows.findIndex((row) => row.id === first), rows.findIndex((row) => row.id === last)];
  if (from < 0 || to < 0) return [last];
  return rows.slice(Math.min(from, to), Math.max(from, to) + 1).map((row) => row.id);
}

export function useSelection(): Selection {
  const [{ ids }, set] = useState<{ ids: ReadonlySet<number>; anchor: number | null }>({
    ids: new Set(),
    anchor: null,
  });
  return useMemo(
    () => ({
      ids,
      toggle(id) {
        set((known) => {
          const next = new Set(known.ids);
          if (!next.delete(id)) next.add(id);
          return { ids: next, anchor: id };
        });
      },
      extend(id, rows) {
        set((known) => ({
          ids: new Set([...known.ids, ...between(rows, known.anchor, id)]),
          anchor: known.anchor ?? id,
        }));
      },
      choose: (chosen) => set({ ids: new Set(chosen), anchor: null }),
      clear: () => set({ ids: new Set(), anchor: null }),
    }),
    [ids],
  );
}
