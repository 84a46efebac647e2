// Names stay hidden also where one report stands open, until somebody asks for them: of the patient the initials and the
// year stand, as in lists, and the same words are hidden wherever else the report or a message repeats them.

import { Eye, EyeOff } from "lucide-react";
import { createContext, useContext, useMemo } from "react";
import type { ReactNode } from "react";

import type { DetailView } from "../bridge/generated/DetailView";
import { useText } from "../i18n/text";
import { useWindow } from "../place";
import { Button } from "../kit/controls";
import css from "./veil.module.css";

export interface Veil {
  isHidden: boolean;
  /** The text with the words of the patient's name hidden. */
  hide: (text: string) => string;
  /** A value that is about a person: its first letter. */
  hideValue: (value: string) => string;
  /** The name of a file, which may be named after its patient. */
  hideFile: (file: string) => string;
  /** The patient as it may be shown. */
  patient: string | null;
}

const OPEN: Veil = {
  isHidden: false,
  hide: (text) => text,
  hideValue: (text) => text,
  hideFile: (file) => file,
  patient: null,
};

const VeilContext = createContext<Veil>(OPEN);

/** `M. M., 1987`, as the core masks the patients of lists. */
export function initials(patient: string, birthDate: string | null): string {
  const letters = patient.split(",").flatMap((part) => /[\p{L}\p{N}]/u.exec(part)?.[0] ?? []);
  const named = letters.slice(0, 2).map((letter) => `${letter.toUpperCase()}.`);
  const year = /^\d{4}/.exec(birthDate ?? "")?.[0];
  return [named.join(" ") || "?", year].filter(Boolean).join(", ");
}

/** A value that is about a person, as it may be shown. */
export const initialOf = (text: string) => `${/[\p{L}\p{N}]/u.exec(text)?.[0] ?? ""}…`;

/** An ellipsis ends a sentence by itself: three dots, and not four. */
export const ended = (text: string) => text.replace(/…\.(?=\s|$)/gu, "…");

/** `M…_M….json`, as the core masks the names of files in lists. */
export function maskedFile(file: string): string {
  const ending = /\.(json|xml|ndjson|zip)$/.exec(file)?.[0] ?? "";
  const stem = file.slice(0, file.length - ending.length);
  return stem.replace(/[\p{L}\p{N}]+/gu, initialOf) + ending;
}

/** Hides the words of a name, in whatever text they stand. */
export function hiding(patient: string | null): (text: string) => string {
  const words = (patient ?? "").split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1);
  if (words.length === 0) return (text) => text;
  const named = new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  return (text) => ended(text.replace(named, initialOf));
}

/** Elements of a patient that name nobody. */
const NAMELESS = /^(gender|deceased.*|address\.(city|country|postalCode|state))$/;

/** Whether the element of this path (`Patient.name.family`) or this key (`patient.name`) says who somebody is. */
export function namesSomebody(path: string): boolean {
  const [type = "", ...rest] = path.split(".");
  return /^(patient|relatedperson|related-person)$/i.test(type) && rest.length > 0 && !NAMELESS.test(rest.join("."));
}

/** Hides the patient of this report in all that stands inside, while names are hidden. */
export function Veiled({ view, children }: { view: Pick<DetailView, "row" | "birthDate">; children: ReactNode }) {
  const { reveal } = useWindow();
  const { patient } = view.row;
  const { birthDate } = view;
  const veil = useMemo<Veil>(
    () =>
      reveal
        ? { ...OPEN, patient }
        : {
            isHidden: true,
            hide: hiding(patient),
            hideValue: initialOf,
            hideFile: maskedFile,
            patient: patient && initials(patient, birthDate),
          },
    [reveal, patient, birthDate],
  );
  return <VeilContext value={veil}>{children}</VeilContext>;
}

export const useVeil = (): Veil => useContext(VeilContext);

/** Stands where a text would name the patient: one press shows it. */
export function Hidden() {
  const text = useText();
  const { setReveal } = useWindow();
  return (
    <div className={css.hidden} data-testid="names-hidden">
      <EyeOff aria-hidden size={20} />
      <p>{text("names.hidden")}</p>
      <Button icon={Eye} onPress={() => setReveal(true)} data-testid="unveil">
        {text("names.show-all")}
      </Button>
    </div>
  );
}

/** Beside the patient: shows the name. It is hidden again where it is hidden everywhere, in the rail. */
export function ShowName() {
  const text = useText();
  const { isHidden } = useVeil();
  const { setReveal } = useWindow();
  if (!isHidden) return null;
  return (
    <Button
      tone="quiet"
      icon={Eye}
      label={text("names.show")}
      onPress={() => setReveal(true)}
      data-testid="show-name"
    />
  );
}
