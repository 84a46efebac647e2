// By when reports have to be with the authority: a table of the laboratory's own, a row for each disease.

import { Trash2 } from "lucide-react";
import { useRef } from "react";

import { door } from "#door";

import type { DeadlineView } from "../bridge/generated/DeadlineView";
import type { Disease } from "../bridge/generated/Disease";
import { useDeadlines, useRefresh, useStatus } from "../bridge/queries";
import { useFormat, useText, useWords } from "../i18n/text";
import { Button, Select } from "../kit/controls";
import { ReadProblem } from "../kit/notes";
import screen from "../kit/screen.module.css";
import { say, sayProblem } from "../kit/toasts";
import css from "./deadlines.module.css";

/** Times that are offered, hours: two hours to a month. */
const HOURS = [2, 4, 8, 12, 24, 48, 72, 168, 336, 720];
/** What a disease begins with. */
const FIRST_HOURS = 24;

const others = (kept: DeadlineView[], disease: string) => kept.filter((row) => row.disease !== disease);

export function Deadlines() {
  const text = useText();
  const format = useFormat();
  const { language } = useWords();
  const kept = useDeadlines();
  const isPractice = useStatus().data?.environment === "practice";
  const refresh = useRefresh();
  const turn = useRef<Promise<void>>(Promise.resolve());
  const view = kept.data;
  if (kept.error) return <ReadProblem of={kept} />;
  if (!view) return null;
  const nameOf = (disease: string) => text.code(`disease.${disease}`) ?? disease;
  const byName = (a: string, b: string) => nameOf(a).localeCompare(nameOf(b), language);
  const rows = view.deadlines.toSorted((a, b) => byName(a.disease, b.disease));
  const free = view.diseases.filter((disease) => !rows.some((row) => row.disease === disease)).toSorted(byName);
  // One change after the other, each of what is kept by then: who is quick, or not alone, loses no row.
  const change = (of: (kept: DeadlineView[]) => DeadlineView[], room = door.here(), done?: () => void) => {
    const changed = turn.current.then(async () => {
      const { deadlines } = await room.call("deadlines");
      await room.call("set_deadlines", { deadlines: of(deadlines) });
      done?.();
    });
    turn.current = changed.catch(sayProblem(text)).finally(() => refresh("set_deadlines"));
  };
  const set = (disease: Disease, hours: number) => change((kept) => [...others(kept, disease), { disease, hours }]);
  const remove = (row: DeadlineView) => {
    // In this room; and what others have entered meanwhile stays.
    const here = door.here();
    const undo = () => change((kept) => [...others(kept, row.disease), row], here);
    const title = text("deadlines.removed", { disease: nameOf(row.disease) });
    change(
      (kept) => others(kept, row.disease),
      here,
      () => say({ tone: "done", title, undo }),
    );
  };
  return (
    <section className={screen.card} data-testid="deadlines">
      <h2>{text("deadlines.title")}</h2>
      <p className={css.more}>{text("deadlines.more")}</p>
      {/* Also where some of them were changed: the others are still made up. */}
      {(view.isExample || (isPractice && rows.length > 0)) && <p className={css.more}>{text("deadlines.example")}</p>}
      {rows.length > 0 && (
        <table className={css.table}>
          <thead>
            <tr>
              <th scope="col">{text("column.disease")}</th>
              <th scope="col">{text("deadlines.within")}</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {rows.map(({ disease, hours }) => (
              <tr key={disease} data-testid={`deadline-${disease}`}>
                <th scope="row">{nameOf(disease)}</th>
                <td>
                  <Select
                    label={text("deadlines.within.of", { disease: nameOf(disease) })}
                    hideLabel
                    quiet
                    value={String(hours)}
                    choices={[...new Set([...HOURS, hours])]
                      .toSorted((a, b) => a - b)
                      .map((id) => ({ id: String(id), name: format.duration(id * 3600) }))}
                    onChange={(chosen) => set(disease, Number(chosen))}
                  />
                </td>
                <td>
                  <Button
                    tone="quiet"
                    icon={Trash2}
                    label={text("deadlines.remove", { disease: nameOf(disease) })}
                    onPress={() => remove({ disease, hours })}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <div>
        <Select
          label={text("deadlines.add")}
          hideLabel
          value=""
          placeholder={text("deadlines.add")}
          choices={free.map((id) => ({ id, name: nameOf(id) }))}
          onChange={(disease) => disease !== "" && set(disease, FIRST_HOURS)}
          data-testid="deadline-add"
        />
      </div>
    </section>
  );
}
