// Texts by id, numbers and times by Intl. Static ids are checked by the compiler; codes from the core are
// looked up and may be unknown (an older window, a newer core): then the code itself is shown.

import { setupI18n } from "@lingui/core";
import type { I18n } from "@lingui/core";
import { createContext, useContext, useMemo } from "react";

import type help from "./en/help.json";
import type statement from "../../../texts/en/statement.json";
import type en from "./en/interface.json";

/** Languages with a catalogue, named in themselves. A language more is a folder more and a line here. */
export const LANGUAGES = [
  { code: "en", name: "English", locale: "en-CH" },
  { code: "de", name: "Deutsch", locale: "de-CH" },
  { code: "fr", name: "Français", locale: "fr-CH" },
  { code: "it", name: "Italiano", locale: "it-CH" },
] as const;

export type Language = (typeof LANGUAGES)[number]["code"];

/** Id of a text of the window itself. */
export type TextId = keyof typeof en | keyof typeof help | keyof typeof statement;

export type Values = Record<string, string | number>;

const load: Record<Language, () => Promise<{ default: Record<string, string> }>> = {
  en: () => import("virtual:catalogue/en"),
  de: () => import("virtual:catalogue/de"),
  fr: () => import("virtual:catalogue/fr"),
  it: () => import("virtual:catalogue/it"),
};

/** The language in force: chosen, else the system's, else English. */
export function languageFor(chosen: string | null, system: readonly string[]): Language {
  const known = (code: string) => LANGUAGES.find((language) => language.code === code.slice(0, 2))?.code;
  for (const code of [...(chosen ? [chosen] : []), ...system]) {
    const language = known(code.toLowerCase());
    if (language) return language;
  }
  return "en";
}

/** Text of an id; `code` gives the text of a code from the core, or nothing where there is none. */
export interface Text {
  (id: TextId, values?: Values): string;
  code(id: string, values?: Values): string | undefined;
}

export interface Format {
  number(value: number): string;
  /** 21 November 2026; November 2026 and 2026 where a document says no more. */
  date(instant: string): string;
  /** 09:41 today, else 20 Nov, 09:41 */
  moment(instant: string): string;
  /** The same in a sentence: at 09:41, on 20 Nov at 09:41, on 20 Nov 2025. */
  at(instant: string): string;
  /** With seconds, for evidence. */
  exact(instant: string): string;
  /** Mon 21 */
  day(date: string): string;
  bytes(count: number): string;
  /** 40 seconds, 12 minutes, 3 hours, 2 days */
  duration(seconds: number): string;
  /** 40 sec, 12 min, 3 h, 2 d */
  shortDuration(seconds: number): string;
  /** 4 May, for the axis of a chart. */
  shortDate(date: string): string;
}

export interface Words {
  language: Language;
  /** How its numbers and days are written. */
  locale: string;
  text: Text;
  format: Format;
}

/** What an endpoint is called. Nobody gave that of practice its name: it is called as practice is. */
export const endpointName = (text: Text, name: string): string =>
  name === "practice" ? (text.code("environment.practice") ?? name) : name;

export async function loadWords(language: Language): Promise<Words> {
  const { default: messages } = await load[language]();
  const locale = LANGUAGES.find((l) => l.code === language)?.locale ?? language;
  const i18n = setupI18n({ locale, locales: [locale, language], messages: { [locale]: messages } });
  const format = formatOf(locale, (id, values) => i18n._(id, values));
  return { language, locale, text: textOf(i18n, messages, format), format };
}

function textOf(i18n: I18n, messages: Record<string, unknown>, format: Format): Text {
  const text = (id: TextId, values: Values = {}) => i18n._(id, literal(values));
  text.code = (id: string, values: Values = {}) => {
    if (!(id in messages)) return undefined;
    return i18n._(id, literal(Object.fromEntries(Object.entries(values).flatMap((one) => asked(...one)))));
  };
  // One name stands for bytes here and for a count there: a text that says a size asks for `limitSize`.
  const asked = (name: string, value: string | number): [string, string | number][] => {
    const [called, shown] = argument(name, value);
    return [
      [`${called}Size`, /^\d+$/.test(String(value)) ? format.bytes(Number(value)) : shown],
      [called, shown],
    ];
  };
  // A parameter of the core may be a code itself, with a text of its own, an instant, or empty; and ICU knows no hyphen in
  // names.
  const argument = (name: string, value: string | number) => {
    const id = value === "" ? `absent.${name}` : `${name}.${value}`;
    const told = typeof value === "string" ? inTime(name, value, format) : value;
    const isWorded = CODED.has(name) || value === "";
    const shown = isWorded && id in messages ? i18n._(id) : told;
    return [name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()), shown] as const;
  };
  return text;
}

/** Lingui takes `\\u003c` in a finished text for the character of that number. The words of a document are shown as
 *  they are: their backslashes go in by number, and come out as themselves. */
function literal(values: Values): Values {
  const kept = (value: string | number) => (typeof value === "string" ? value.replace(/\\(?=[ux])/g, "\\u005c") : value);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, kept(value)]));
}

/** Parameters whose values are codes. */
const CODED = new Set(["action", "argument", "environment", "kind", "reason", "state", "type"]);

/** Parameters whose values are instants of the program. */
const INSTANTS = new Set(["last"]);

/** Parameters whose values are days of a document. */
const DAYS = new Set(["date", "birth-date"]);

/** Whether a parameter is a day of a document that is written as one: another is shown as it stands there. */
export const isDay = (name: string, value: string): boolean => DAYS.has(name) && /^\d{4}(-\d{2}){1,2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/.test(value);

/** A parameter that is a time, as people write it. */
function inTime(name: string, value: string, format: Format): string {
  if (INSTANTS.has(name)) return format.exact(value);
  return isDay(name, value) ? format.date(value) : value;
}

function formatOf(locale: string, said: (id: TextId, values: Values) => string): Format {
  const of = (options: Intl.DateTimeFormatOptions) => {
    const formatter = new Intl.DateTimeFormat(locale, options);
    return (value: string) => {
      const date = new Date(value);
      return Number.isNaN(date.getTime()) ? value : formatter.format(date);
    };
  };
  const [fullDate, month] = [of({ day: "numeric", month: "long", year: "numeric" }), of({ month: "long", year: "numeric" })];
  const time = of({ hour: "2-digit", minute: "2-digit" });
  const thisYear = of({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  const otherYear = of({ day: "numeric", month: "short", year: "numeric" });
  const day = of({ day: "numeric", month: "short" });
  const length = (unit: string) =>
    (["long", "short"] as const).map(
      (unitDisplay) => new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay, maximumFractionDigits: 0 }),
    );
  // From which number of seconds on a length is said in which unit.
  const units = [
    [172_800, 86_400, length("day")],
    [7_200, 3_600, length("hour")],
    [120, 60, length("minute")],
    [0, 1, length("second")],
  ] as const;
  const lasting = (width: 0 | 1) => (seconds: number) => {
    const [, size, unit] = units.find(([from]) => seconds >= from) ?? units[3];
    return unit[width]?.format(Math.max(0, seconds) / size) ?? "";
  };
  const number = new Intl.NumberFormat(locale);
  const size = (unit: string) => new Intl.NumberFormat(locale, { style: "unit", unit, maximumFractionDigits: 1 });
  const [kilobytes, megabytes] = [size("kilobyte"), size("megabyte")];
  const few = new Intl.NumberFormat(locale, { style: "unit", unit: "byte", unitDisplay: "long" });
  return {
    number: (value) => number.format(value),
    // A date without a time is that day everywhere; a month or a year stays what it is.
    date: (date) => {
      // A year, and a day that no calendar has, stand as they were written.
      if (/^\d{4}$/.test(date) || !isOfCalendar(date)) return date;
      if (/^\d{4}-\d{2}$/.test(date)) return month(`${date}-15T12:00:00`);
      return fullDate(/^\d{4}-\d{2}-\d{2}$/.test(date) ? `${date}T12:00:00` : date);
    },
    moment: (instant) => {
      const date = new Date(instant);
      const now = new Date();
      if (date.toDateString() === now.toDateString()) return time(instant);
      return date.getFullYear() === now.getFullYear() ? thisYear(instant) : otherYear(instant);
    },
    at: (instant) => {
      const date = new Date(instant);
      const now = new Date();
      if (Number.isNaN(date.getTime())) return instant;
      if (date.toDateString() === now.toDateString()) return said("when.time", { time: time(instant) });
      const n = date.getDate();
      return date.getFullYear() === now.getFullYear()
        ? said("when.day", { n, day: day(instant), time: time(instant) })
        : said("when.year", { n, day: otherYear(instant) });
    },
    exact: of({ dateStyle: "medium", timeStyle: "medium" }),
    day: (date) => of({ weekday: "short", day: "numeric" })(`${date}T12:00:00`),
    duration: lasting(0),
    shortDuration: lasting(1),
    shortDate: (date) => day(`${date}T12:00:00`),
    bytes: (count) => {
      if (count < 1e3) return few.format(count);
      return count < 1e6 ? kilobytes.format(count / 1e3) : megabytes.format(count / 1e6);
    },
  };
}

/** Some engines take 30 February for 2 March, others for no date. */
function isOfCalendar(date: string): boolean {
  const [day] = /^\d{4}-\d{2}(-\d{2})?/.exec(date) ?? [];
  const noon = new Date(`${day?.length === 7 ? `${day}-15` : day}T12:00:00Z`);
  const isKnown = ![Date.parse(date), noon.getTime()].some(Number.isNaN);
  return day !== undefined && isKnown && noon.toISOString().startsWith(day);
}

const WordsContext = createContext<Words | undefined>(undefined);

export const WordsProvider = WordsContext.Provider;

export function useWords(): Words {
  const words = useContext(WordsContext);
  if (!words) throw new Error("no language is loaded");
  return words;
}

export const useText = (): Text => useWords().text;
export const useFormat = (): Format => useWords().format;

/** Looks a code up, falling back to the code in words: `birth-date` becomes `Birth date`. */
export function useCodeText(): (prefix: string, code: string, values?: Values) => string {
  const text = useText();
  return useMemo(() => (prefix, code, values) => text.code(`${prefix}.${code}`, values) ?? humanised(code), [text]);
}

export function humanised(code: string): string {
  const last = code.split(".").at(-1) ?? code;
  const words = last.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[-_]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
