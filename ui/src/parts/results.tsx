// What was found, as a laboratory prints it: the test, the result large, and what it means.

import type { CodedView } from "../bridge/generated/CodedView";
import type { ResultView } from "../bridge/generated/ResultView";
import { useCodeText, useText } from "../i18n/text";
import { Said, inReadersWords, saysTheSame } from "./coded";
import css from "./results.module.css";
import { diseaseOf, testOf } from "./subject";

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

function Row({ result }: { result: ResultView }) {
  const text = useText();
  const words = useCodeText();
  const { outcome, value, interpretation, absent, name, code } = result;
  const nameCoded = listed(result.nameCoded);
  const valueCoded = listed(result.valueCoded);
  const interpretationCoded = listed(result.interpretationCoded);
  const disease = diseaseOf(text, { ...result, subject: null });
  const testText = disease && testOf(text, { ...result, subject: null });
  const named = name && <Said words={inReadersWords(text, name, nameCoded)} value={name} coded={nameCoded} />;
  const valued = value && inReadersWords(text, value, valueCoded);
  const interpreted = interpretation && inReadersWords(text, interpretation, interpretationCoded);
  const told = outcome === null ? interpreted : words("outcome", outcome);
  // A value that only repeats the outcome ("Positive" beside POSITIVE) is said once.
  const repeats =
    outcome !== null &&
    valued !== null &&
    (value?.toLowerCase().startsWith(outcome) || saysTheSame(valued, told ?? ""));
  const tone = outcome === null ? "" : STRONG.has(outcome) ? css.strong : WEAK.has(outcome) ? css.weak : css.other;
  return (
    <tr className={result.isPart ? css.part : css.whole}>
      <th scope="row">
        <strong>{disease ?? named ?? code}</strong>
        <span className={css.second}>
          {testText}
          {testText && disease && name !== code && name && " · "}
          {disease && name !== code && named}
          {code && <code>{code}</code>}
        </span>
      </th>
      <td className={`${css.value} selectable`}>
        {!repeats && valued && <Said words={valued} value={value} coded={valueCoded} />}
        {value === null && absent && <em>{text.code(`value.${absent}`) ?? absent}</em>}
      </td>
      <td>
        {told && (
          <span className={`${css.chip} ${tone}`}>
            <Said
              words={told}
              value={interpretation ?? value}
              coded={interpretation ? interpretationCoded : valueCoded}
            />
          </span>
        )}
      </td>
    </tr>
  );
}
