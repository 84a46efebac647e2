// The filters of the list of reports: groups with what each would leave, states, laboratories, diseases and deadlines.

import { AlarmClock, Biohazard, Check, ChevronDown, FlaskRound, ListFilter as FilterIcon } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { useId } from "react";
import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import type { Selection } from "react-aria-components";

import type { AboutView } from "../bridge/generated/AboutView";
import type { DiseaseCountView } from "../bridge/generated/DiseaseCountView";
import type { Group } from "../bridge/generated/Group";
import type { ListCountsView } from "../bridge/generated/ListCountsView";
import type { State } from "../bridge/generated/State";
import type { Timeliness } from "../bridge/generated/Timeliness";
import { useCodeText, useFormat, useText } from "../i18n/text";
import type { TextId } from "../i18n/text";
import controls from "../kit/controls.module.css";
import css from "./list-filters.module.css";
import { STATE_CODES } from "./state";
import { diseaseOf } from "./subject";

const GROUPS: { code: Group | null; word: TextId }[] = [
  { code: null, word: "group.all" },
  { code: "needs-attention", word: "group.needs-attention" },
  { code: "in-progress", word: "group.in-progress" },
  { code: "completed", word: "group.completed" },
  { code: "closed", word: "group.closed" },
];

/** Groups with what each would leave beside the search and all other filters. */
export function GroupFilter(props: {
  group: Group | null;
  counts: ListCountsView | undefined;
  show: (code: Group | null) => void;
}) {
  const { group, counts, show } = props;
  const text = useText();
  const format = useFormat();
  const count = (code: Group | null) => {
    const groups: ListCountsView["groups"] = counts?.groups ?? {};
    return code === null ? Object.values(groups).reduce((sum, n) => sum + n, 0) : (groups[code] ?? 0);
  };
  return (
    <div className={css.groups} role="group" aria-label={text("reports.groups")}>
      {GROUPS.map(({ code, word }) => (
        <button
          key={word}
          type="button"
          className={`${css.group} ${code === "needs-attention" && count(code) ? css.attention : ""}`}
          aria-pressed={group === code}
          onClick={() => show(code)}
          data-testid={`group-${code ?? "all"}`}
        >
          {text(word)}
          <span className={css.count}>
            {/* As long as none is known there is none to show: 0 would be one. */}
            {counts && format.number(count(code))}
            {counts?.atLeast && "+"}
          </span>
        </button>
      ))}
    </div>
  );
}

/** One filter as a menu with what each choice would leave. */
function FilterMenu<Id extends string>(props: {
  label: string;
  icon: LucideIcon;
  choices: { id: Id; name: string; count: number }[];
  chosen: Id[];
  several: boolean;
  /** So many reports were counted, where there are more. */
  counted: number | null | undefined;
  onChoose: (ids: Id[]) => void;
  "data-testid": string;
}) {
  const { label, icon: Icon, choices, chosen, several, counted, onChoose } = props;
  const cut = useId();
  const atLeast = typeof counted === "number";
  const text = useText();
  const format = useFormat();
  const named = choices.filter((choice) => chosen.includes(choice.id)).map((choice) => choice.name);
  const change = (keys: Selection) =>
    onChoose(choices.map(({ id }) => id).filter((id) => keys === "all" || keys.has(id)));
  return (
    <MenuTrigger>
      <AriaButton
        className={`${controls.button} ${controls.plain} ${css.filter} ${chosen.length > 0 ? css.inForce : ""}`}
        aria-label={named.length > 0 ? `${label}: ${named.join(", ")}` : label}
        data-testid={props["data-testid"]}
      >
        <Icon aria-hidden size={15} />
        <span className={css.filterName}>{named.length > 0 ? named.join(", ") : label}</span>
        <ChevronDown aria-hidden size={15} />
      </AriaButton>
      <Popover className={controls.popover}>
        <Menu
          className={controls.menu}
          aria-label={label}
          aria-describedby={atLeast ? cut : undefined}
          selectionMode={several ? "multiple" : "single"}
          selectedKeys={chosen}
          onSelectionChange={change}
          renderEmptyState={() => <span className={css.empty}>{text("filter.nothing")}</span>}
          items={choices}
        >
          {(choice) => (
            <MenuItem id={choice.id} className={controls.option} textValue={choice.name}>
              {({ isSelected }) => (
                <>
                  <span className={controls.tick}>{isSelected && <Check aria-hidden size={15} />}</span>
                  <span className={css.choice}>{choice.name}</span>
                  <span className={css.count}>
                    {format.number(choice.count)}
                    {atLeast && "+"}
                  </span>
                </>
              )}
            </MenuItem>
          )}
        </Menu>
        {atLeast && (
          <p id={cut} className={css.cut} data-testid="filter-at-least">
            {text("filter.at-least", { n: format.number(counted) })}
          </p>
        )}
      </Popover>
    </MenuTrigger>
  );
}

export function StateFilter(props: {
  states: State[];
  counts: ListCountsView | undefined;
  onChange: (states: State[]) => void;
}) {
  const { states, counts, onChange } = props;
  const text = useText();
  const words = useCodeText();
  const offered = STATE_CODES.filter((state) => states.includes(state) || (counts?.states[state] ?? 0) > 0);
  return (
    <FilterMenu
      label={text("filter.state")}
      icon={FilterIcon}
      choices={offered.map((id) => ({ id, name: words("state", id), count: counts?.states[id] ?? 0 }))}
      chosen={states}
      several
      counted={counts?.choicesCounted}
      onChoose={onChange}
      data-testid="filter-state"
    />
  );
}

export function LaboratoryFilter(props: {
  laboratory: string | null;
  counts: ListCountsView | undefined;
  onChange: (laboratory: string | null) => void;
}) {
  const { laboratory, counts, onChange } = props;
  const text = useText();
  const known = counts?.laboratories ?? [];
  const gone =
    laboratory !== null && !known.some((one) => one.name === laboratory) ? [{ name: laboratory, count: 0 }] : [];
  return (
    <FilterMenu
      label={text("filter.laboratory")}
      icon={FlaskRound}
      choices={[...gone, ...known].map(({ name, count }) => ({ id: name, name, count }))}
      chosen={laboratory === null ? [] : [laboratory]}
      several={false}
      counted={counts?.choicesCounted}
      onChoose={([chosen]) => onChange(chosen ?? null)}
      data-testid="filter-laboratory"
    />
  );
}

/** What reports are about: a known disease, else what they say themselves, else nothing. */
export function DiseaseFilter(props: {
  about: AboutView | null;
  counts: ListCountsView | undefined;
  onChange: (about: AboutView | null) => void;
}) {
  const { about, counts, onChange } = props;
  const text = useText();
  const idOf = ({ disease, subject }: AboutView | DiseaseCountView) => JSON.stringify([disease, subject]);
  const known = counts?.diseases ?? [];
  const gone = about && !known.some((one) => idOf(one) === idOf(about)) ? [{ ...about, count: 0 }] : [];
  const offered = [...gone, ...known].map((one) => ({
    id: idOf(one),
    name: diseaseOf(text, one) ?? text("overview.disease.none"),
    count: one.count,
    about: { disease: one.disease, subject: one.subject } as AboutView,
  }));
  return (
    <FilterMenu
      label={text("filter.disease")}
      icon={Biohazard}
      choices={offered}
      chosen={about === null ? [] : [idOf(about)]}
      several={false}
      counted={counts?.choicesCounted}
      onChoose={([chosen]) => onChange(offered.find(({ id }) => id === chosen)?.about ?? null)}
      data-testid="filter-disease"
    />
  );
}

const TIMELINESS: Timeliness[] = ["overdue", "running", "late", "kept"];

export function DeadlineFilter(props: {
  timeliness: Timeliness | null;
  counts: ListCountsView | undefined;
  onChange: (timeliness: Timeliness | null) => void;
}) {
  const { timeliness, counts, onChange } = props;
  const text = useText();
  return (
    <FilterMenu
      label={text("filter.deadline")}
      icon={AlarmClock}
      choices={TIMELINESS.map((id) => ({
        id,
        name: text(`overview.deadlines.${id}`),
        count: counts?.timeliness[id] ?? 0,
      }))}
      chosen={timeliness === null ? [] : [timeliness]}
      several={false}
      counted={counts?.choicesCounted}
      onChoose={([chosen]) => onChange(chosen ?? null)}
      data-testid="filter-deadline"
    />
  );
}
