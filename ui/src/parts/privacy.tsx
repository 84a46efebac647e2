// What the authority would see of the patient: the form that the organism permits, beside what stands in the report.

import { EyeOff, ShieldAlert, ShieldCheck } from "lucide-react";

import type { PrivacyRowView } from "../bridge/generated/PrivacyRowView";
import type { PrivacyView } from "../bridge/generated/PrivacyView";
import { useCodeText, useFormat, useText } from "../i18n/text";
import { Button } from "../kit/controls";
import css from "./privacy.module.css";
import { namesSomebody, useVeil } from "./veil";

export function Privacy({ view, onReduce }: { view: PrivacyView; onReduce?: (() => void) | undefined }) {
  const text = useText();
  const Icon = view.tooMuch ? ShieldAlert : ShieldCheck;
  const form = text.code(`privacy.form.${view.permitted}`) ?? text("privacy.form.other", { form: view.permitted });
  return (
    <section
      className={`${css.privacy} ${view.tooMuch ? css.stop : ""}`}
      data-testid="privacy"
      data-stops={view.tooMuch}
    >
      <h3>
        <Icon aria-hidden size={17} />
        {text("privacy.title")}
      </h3>
      <p>
        {form} {view.because && <span className={css.because}>{view.because}</span>}
      </p>
      <p className={css.verdict}>{text(view.tooMuch ? "privacy.stop" : "privacy.fine")}</p>
      <table>
        <thead>
          <tr>
            <td />
            <th scope="col">{text("privacy.now")}</th>
            <th scope="col">{text("privacy.seen")}</th>
          </tr>
        </thead>
        <tbody className="selectable">
          {view.rows.map((row) => (
            <Row key={row.key} row={row} />
          ))}
        </tbody>
      </table>
      {view.tooMuch && onReduce && (
        <Button tone="primary" icon={EyeOff} onPress={onReduce} data-testid="reduce-patient">
          {text("privacy.reduce")}
        </Button>
      )}
    </section>
  );
}

function Row({ row }: { row: PrivacyRowView }) {
  const text = useText();
  const words = useCodeText();
  const format = useFormat();
  const { isHidden, hideValue } = useVeil();
  const hide = (value: string) => (isHidden && namesSomebody(row.key) ? hideValue(value) : value);
  const shown = (values: string[]) =>
    values
      .map((value) =>
        row.key === "patient.birth-date"
          ? format.date(value)
          : (text.code(`value.${row.key}.${value}`) ?? text.code(`value.${value}`) ?? value),
      )
      .map(hide)
      .join(" · ");
  const [now, seen] = [shown(row.now), shown(row.seen)];
  return (
    <tr className={now === seen ? undefined : css.less} data-field={row.key}>
      <th scope="row">{words("field", row.key)}</th>
      <td>{now === seen ? now : <del>{now}</del>}</td>
      <td>{seen === "" ? <span className={css.none}>{text("privacy.nothing")}</span> : seen}</td>
    </tr>
  );
}
