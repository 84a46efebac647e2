// What was found, as a laboratory prints it: the test, the result large, and what it means.

import type { ResultView } from "../bridge/generated/ResultView";
import { useCodeText, useText } from "../i18n/text";
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

function Row({ result }: { result: ResultView }) {
  const text = useText();
  const words = useCodeText();
  const { outcome, value, interpretation, absent, name, code } = result;
  const disease = diseaseOf(text, { ...result, subject: null });
  const told = outcome === null ? interpretation : words("outcome", outcome);
  // A value that only repeats the outcome ("Positive" beside POSITIVE) is said once.
  const repeats = outcome !== null && value !== null && value.toLowerCase().startsWith(outcome);
  const tone = outcome === null ? "" : STRONG.has(outcome) ? css.strong : WEAK.has(outcome) ? css.weak : css.other;
  return (
    <tr className={result.isPart ? css.part : css.whole}>
      <th scope="row">
        <strong>{disease ?? name ?? code}</strong>
        <span className={css.second}>
          {[disease && testOf(text, { ...result, subject: null }), disease && name !== code && name]
            .filter(Boolean)
            .join(" · ")}
          {code && <code>{code}</code>}
        </span>
      </th>
      <td className={`${css.value} selectable`}>
        {!repeats && value}
        {value === null && absent && <em>{text.code(`value.${absent}`) ?? absent}</em>}
      </td>
      <td>{told && <span className={`${css.chip} ${tone}`}>{told}</span>}</td>
    </tr>
  );
}
