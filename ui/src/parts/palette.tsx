// Everything by its name (Ctrl+K): places, actions, and the reports that match what is typed.

import { ArrowRight, FileSearch, Search } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { useDeferredValue, useId, useMemo, useState } from "react";

import { useSavePreferences } from "../bridge/preferences";
import { ALL, usePreferences, useCommand, useRows, useStatus } from "../bridge/queries";
import { LANGUAGES, useCodeText, useText } from "../i18n/text";
import { HOME, useWindow } from "../place";
import type { State } from "../bridge/generated/State";
import type { Screen } from "../place";
import { useChooser } from "../screens/send";
import { Dialog } from "../kit/dialog";
import { ReadProblem } from "../kit/notes";
import { StateMark } from "./state";
import { diseaseOf } from "./subject";
import { sayProblem } from "../kit/toasts";
import { useChecklistAgain } from "./checklist";
import { useClosed } from "./closed";
import css from "./palette.module.css";

interface Entry {
  key: string;
  words: string;
  icon?: LucideIcon;
  state?: State;
  run: () => void;
}

const SCREENS: Screen[] = ["send", "reports", "correct", "overview", "ask", "certificate", "settings"];
const SECTIONS = [
  ["deadlines", "deadlines.title"],
  ["rules", "rules.title"],
  ["safekeeping", "safe.title"],
] as const;
const GROUPS = ["needs-attention", "in-progress", "completed", "closed"] as const;
const THEMES = ["light", "dark", "system"] as const;
/** Reports shown that match what is typed. */
const REPORTS_MAX = 6;

/** Lower case without accents: "a corriger" finds "À corriger". */
const plain = (text: string) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** Whether each word that was typed begins a word of the text. */
export function matches(text: string, typed: string): boolean {
  const words = plain(text).split(/[^\p{L}\p{N}]+/u);
  return plain(typed)
    .split(/\s+/)
    .filter(Boolean)
    .every((part) => words.some((word) => word.startsWith(part)));
}

export function Palette({
  onClose,
  showSheet,
  lock,
}: {
  onClose: () => void;
  showSheet: () => void;
  lock: () => void;
}) {
  const text = useText();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const list = useId();
  const actions = useActions({ showSheet, lock });
  const { found, read } = useReports(typed);
  const entries = [...actions.filter(({ words }) => matches(words, typed)), ...found];
  const current = Math.min(at, entries.length - 1);
  const run = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    entry.run();
  };
  const press = (event: React.KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) setAt((current + by + entries.length) % Math.max(1, entries.length));
    else if (event.key === "Enter") run(entries[current]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={text("palette.title")} size="small" onClose={onClose}>
      <input
        className={css.input}
        role="combobox"
        aria-label={text("palette.title")}
        aria-expanded
        aria-controls={list}
        aria-activedescendant={entries[current] ? `${list}-${current}` : undefined}
        // The palette is opened to type into it.
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        value={typed}
        placeholder={text("palette.hint")}
        onChange={(event) => {
          setTyped(event.target.value);
          setAt(0);
        }}
        onKeyDown={press}
        data-testid="palette"
      />
      <ul id={list} role="listbox" aria-label={text("palette.title")} className={css.list}>
        {entries.map((entry, index) => (
          // The field has the focus and the keys; an option only takes the pointer.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
          <li
            key={entry.key}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === current}
            className={css.entry}
            ref={(element) => void (index === current && element?.scrollIntoView?.({ block: "nearest" }))}
            onClick={() => run(entry)}
          >
            {entry.state ? (
              <StateMark state={entry.state} size={16} />
            ) : (
              entry.icon && <entry.icon aria-hidden size={16} />
            )}
            <span>{entry.words}</span>
          </li>
        ))}
      </ul>
      {read.error ? <ReadProblem of={read} /> : entries.length === 0 && <p role="status">{text("reports.no-match")}</p>}
    </Dialog>
  );
}

/** What can be done from anywhere. */
function useActions({ showSheet, lock }: { showSheet: () => void; lock: () => void }): Entry[] {
  const text = useText();
  const words = useCodeText();
  const { go, reveal, setReveal } = useWindow();
  const chooser = useChooser();
  const preferences = usePreferences().data;
  const save = useSavePreferences();
  const paused = useStatus().data?.paused ?? false;
  const { mutate: pause } = useCommand("set_paused");
  const stepsAgain = useChecklistAgain();
  return useMemo(() => {
    const entry = (key: string, name: string, run: () => void): Entry => ({ key, words: name, icon: ArrowRight, run });
    const toSend = (choose: () => void) => () => {
      go(HOME.send);
      choose();
    };
    return [
      ...SCREENS.map((to) => entry(to, text(`nav.${to}`), () => go(HOME[to]))),
      ...GROUPS.map((group) =>
        entry(group, `${text("nav.reports")} · ${text(`group.${group}`)}`, () =>
          go({ screen: "reports", group, open: null }),
        ),
      ),
      entry("choose-files", text("send.choose-files"), toSend(chooser.files)),
      entry("choose-folder", text("send.choose-folder"), toSend(chooser.folder)),
      entry("statement", text("statement.title"), () => go({ screen: "overview", stating: true })),
      ...SECTIONS.map(([at, title]) =>
        entry(at, `${text("nav.settings")} · ${text(title)}`, () => go({ screen: "settings", at })),
      ),
      entry("pause", paused ? `${text("settings.sending")} · ${text("standing.resume")}` : text("settings.pause"), () =>
        pause({ paused: !paused }, { onError: sayProblem(text) }),
      ),
      entry("names", text(reveal ? "reports.hide-names" : "reports.show-names"), () => setReveal(!reveal)),
      entry("lock", text("lock.now"), lock),
      ...(stepsAgain ? [entry("first-steps", text("checklist.show"), stepsAgain)] : []),
      entry("keys", `${text("help.title")}, ${text("keys.title")}`, showSheet),
      ...(preferences ? THEMES : []).map((theme) =>
        entry(theme, `${text("settings.theme")} · ${words("theme", theme)}`, () => save({ theme })),
      ),
      ...(preferences ? LANGUAGES : []).map(({ code, name }) =>
        entry(code, `${text("settings.language")} · ${name}`, () => save({ language: code })),
      ),
    ];
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the rest are functions that do the same each time
  }, [text, words, reveal, paused, preferences === undefined, stepsAgain === undefined]);
}

/** The newest reports that match, and the list of all of them. */
function useReports(typed: string) {
  const text = useText();
  const { go, reveal } = useWindow();
  const search = useDeferredValue(typed.trim());
  const query = { ...ALL, search, before: null, limit: REPORTS_MAX };
  const closed = useClosed() !== null;
  const read = useRows(query, search !== "" && !closed, reveal);
  const listed = search === "" || closed ? [] : (read.data?.rows ?? []);
  const rows: Entry[] = listed.map((row) => ({
    key: `report ${row.id}`,
    words: [diseaseOf(text, row) ?? row.file, row.patient].filter(Boolean).join(" · "),
    state: row.state,
    run: () => go({ screen: "reports", group: null, open: row.id }),
  }));
  const all = () =>
    go({ screen: "reports", group: null, open: null, only: { since: null, until: null, states: [], search } });
  if (rows.length > 0)
    rows.push({
      key: "all",
      words: text("palette.all", { search }),
      icon: rows.length > 1 ? FileSearch : Search,
      run: all,
    });
  return { found: rows, read };
}
