// What was found, as a laboratory prints it: the test, the result large, and what it means.

import type { CodedView } from "../bridge/generated/CodedView";
import type { ResultView } from "../bridge/generated/ResultView";
import { useCodeText, useText } from "../i18n/text";
import { Said, inReadersWords, saysTheSame } from "./coded";
import css from "./results.module.css";
import { diseaseOf, testOf } from "./subject";
import { useVeil } from "./veil";

/** Outcomes that a reader looks for first. */
const STRONG = new Set(["positive", "resistant", "reactive", "high", "abnormal", "rise", "seroconversion"]);
const WEAK = new Set(["negative", "susceptible", "not-reactive", "normal"]);

export function Results({ results }: { results: ResultView[] }) {
  const text = useText();
  if (results.length === 0) return null;
  return (
    <section className={css.results} aria-label={text("results.label")} data-testid="results">
      <h3>{text("results.label")}</h3>
      <table>
        <thead className="visually-hidden">
          <tr>
            <th scope="col">{text("results.test")}</th>
            <th scope="col">{text("results.value")}</th>
            <th scope="col">{text("results.meaning")}</th>
          </tr>
        </thead>
        <tbody>
          {results.map((result) => (
            <Row key={result.expression} result={result} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

const listed = (coded: CodedView | null) => (coded ? [coded] : []);

/** A value of the report: as it stands there, in the reader's words, and what of it is a code's. */
interface Worded {
  value: string;
  words: string;
  coded: CodedView[];
}

function Row({ result }: { result: ResultView }) {
  const text = useText();
  const words = useCodeText();
  const { hide } = useVeil();
  const { outcome, absent, code } = result;
  // What is free text may name the patient.
  const worded = (value: string | null, coded: CodedView | null): Worded | null =>
    value === null
      ? null
      : { value: hide(value), words: hide(inReadersWords(text, value, listed(coded))), coded: listed(coded) };
  const name = worded(result.name, result.nameCoded);
  const value = worded(result.value, result.valueCoded);
  const interpretation = worded(result.interpretation, result.interpretationCoded);
  const disease = diseaseOf(text, { ...result, subject: null });
  const testText = disease && testOf(text, { ...result, subject: null });
  const isNamed = name !== null && result.name !== code;
  const told = outcome === null ? interpretation?.words : words("outcome", outcome);
  const says = (worded: Worded | null) =>
    worded !== null &&
    told !== undefined &&
    (saysTheSame(worded.words, told) || saysTheSame(worded.value, (outcome ?? "").replaceAll("-", " ")));
  // A value that only repeats the outcome ("Positive" beside POSITIVE) is said once.
  const repeats = outcome !== null && says(value);
  const isInterpreted = outcome === null || says(interpretation);
  const behind = isInterpreted ? interpretation : repeats ? value : null;
  const tone = outcome === null ? "" : STRONG.has(outcome) ? css.strong : WEAK.has(outcome) ? css.weak : css.other;
  return (
    <tr className={result.isPart ? css.part : css.whole}>
      <th scope="row">
        <strong>{disease ?? (name ? <Said {...name} /> : code)}</strong>
        <span className={css.second}>
          {testText}
          {testText && isNamed && " · "}
          {disease && isNamed && <Said {...name} />}
          {code && <code>{code}</code>}
        </span>
      </th>
      <td className={`${css.value} selectable`}>
        {!repeats && value && <Said {...value} />}
        {value === null && absent && <em>{text.code(`value.${absent}`) ?? absent}</em>}
      </td>
      <td>
        {told && (
          <span className={`${css.chip} ${tone}`}>
            <Said words={told} value={behind?.value ?? null} coded={behind?.coded ?? []} />
          </span>
        )}
        {/* What the laboratory has said of it beside, as that the test has failed. */}
        {interpretation && !isInterpreted && (
          <span className="selectable">
            {" "}
            <Said {...interpretation} />
          </span>
        )}
      </td>
    </tr>
  );
}
