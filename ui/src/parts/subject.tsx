// What a report is about, in words: the disease in the reader's language, then how it was tested, then the code.

import { useMemo } from "react";

import { useText } from "../i18n/text";
import type { Text } from "../i18n/text";
import css from "./subject.module.css";

/** What both a row and a candidate say of it. */
export interface About {
  disease: string | null;
  test: string | null;
  specimen: string | null;
  subject: string | null;
}

/** The disease in words; a code of which nothing is known stays as the report has it. */
export function diseaseOf(text: Text, about: Pick<About, "disease" | "subject">): string | null {
  return (about.disease && text.code(`disease.${about.disease}`)) ?? about.subject;
}

/** "PCR, blood"; empty where the code does not say. */
export function testOf(text: Text, about: About): string {
  const words = [
    about.test && text.code(`test.${about.test}`),
    about.specimen && text.code(`specimen.${about.specimen}`),
  ];
  return words.filter(Boolean).join(", ");
}

/** The disease large, the test small. `otherwise` stands where nothing is known. */
export function Subject({ about, otherwise }: { about: About; otherwise: string }) {
  const text = useText();
  const [disease, test] = useMemo(() => [diseaseOf(text, about), testOf(text, about)], [text, about]);
  return (
    <span className={css.subject}>
      <strong title={disease ?? otherwise}>{disease ?? otherwise}</strong>
      {test && (
        <span className={css.test} title={test}>
          {test}
        </span>
      )}
    </span>
  );
}
