// The report as a form to read, each message inside the section that it concerns.

import { useEffect, useRef } from "react";

import type { DetailView } from "../bridge/generated/DetailView";
import type { FieldView } from "../bridge/generated/FieldView";
import type { MessageView } from "../bridge/generated/MessageView";
import type { SectionView } from "../bridge/generated/SectionView";
import { useCodeText, useFormat, useText } from "../i18n/text";
import type { Pointer } from "../place";
import { Said, inReadersWords } from "./coded";
import { Message } from "./message";
import { Privacy } from "./privacy";
import { showInside } from "../kit/scroll";
import { Results } from "./results";
import css from "./report-content.module.css";
import { namesSomebody, useVeil } from "./veil";

export function ReportContent({ view, pointer }: { view: DetailView; pointer: Pointer }) {
  const text = useText();
  const unplaced = view.messages.filter((message) => message.section === null && message.line === null);
  return (
    <div className={css.content}>
      {unplaced.some((message) => message.source === "authority") && (
        <p className={css.unplaced}>{text("content.unplaced")}</p>
      )}
      {view.sections.length === 0 && <p className={css.unplaced}>{text("content.empty")}</p>}
      {view.privacy && <Privacy view={view.privacy} />}
      <Results results={view.results} />
      {view.sections.map((section, at) => (
        <Section
          key={section.expression}
          section={section}
          messages={view.messages.filter((message) => message.section === at)}
          pointer={pointer.section === at ? pointer : undefined}
        />
      ))}
    </div>
  );
}

function Section(props: { section: SectionView; messages: MessageView[]; pointer: Pointer | undefined }) {
  const { section, messages, pointer } = props;
  const words = useCodeText();
  const text = useText();
  const box = useRef<HTMLElement>(null);
  const isFolded = (field: FieldView) => field.technical && !messages.some((message) => message.field === field.key);
  const folded = section.fields.filter(isFolded);
  const technical = pointer?.field !== null && folded.some((field) => field.key === pointer?.field);
  useEffect(() => {
    if (!pointer) return;
    const field = pointer.field && box.current?.querySelector(`[data-field="${CSS.escape(pointer.field)}"]`);
    showInside(field || box.current);
  }, [pointer]);
  return (
    <section ref={box} className={css.section} data-section={section.resource}>
      <h3>{words("section", section.resource)}</h3>
      <Fields
        of={section.resource}
        fields={section.fields.filter((field) => !isFolded(field))}
        messages={messages}
        pointer={pointer}
      />
      {folded.length > 0 && (
        <details open={technical} className={css.technical}>
          <summary>{text("content.technical", { n: folded.length })}</summary>
          <Fields of={section.resource} fields={folded} messages={messages} pointer={pointer} />
        </details>
      )}
      {messages.length > 0 && (
        <ul className={css.messages}>
          {messages.map((message, at) => (
            <Message key={at} message={message} compact />
          ))}
        </ul>
      )}
    </section>
  );
}

/** `of`: the resource that they are fields of. */
function Fields(props: { of: string; fields: FieldView[]; messages: MessageView[]; pointer: Pointer | undefined }) {
  const { of, fields, messages, pointer } = props;
  const words = useCodeText();
  const text = useText();
  const format = useFormat();
  const { isHidden, hide, hideValue } = useVeil();
  const worded = (field: FieldView) => {
    if (field.value === MATERIAL_BY_TEST) return text("content.material-by-test");
    const said = inReadersWords(text, field.value, field.coded);
    if (said !== field.value) return said;
    return text.code(`value.${field.key}.${field.value}`) ?? text.code(`value.${field.value}`) ?? field.value;
  };
  const inWords = (field: FieldView) =>
    DATED.test(field.key) && /^\d{4}(-\d{2}){0,2}(T|$)/.test(field.value)
      ? field.value.length > 10
        ? format.exact(field.value)
        : format.date(field.value)
      : worded(field);
  return (
    <dl>
      {fields.map((field, at) => {
        const concerned = messages.find((message) => message.field === field.key);
        const whole = inWords(field);
        const names = isHidden && namesSomebody(field.label === null ? field.key : `${of}.${field.label}`);
        // The first letter of what stands in the report, as beside a message about it.
        const value = names ? hideValue(field.value) : hide(whole);
        return (
          <div
            key={`${field.expression}#${at}`}
            data-field={field.key}
            className={`${concerned ? css[concerned.severity] : ""} ${pointer?.field === field.key ? css.shown : ""}`}
          >
            <dt>{field.label ?? words("field", field.key)}</dt>
            <dd className="selectable">
              {field.coded.length > 0 ? (
                <Said words={value} value={names ? null : hide(field.value)} coded={field.coded} />
              ) : (
                value
              )}
              {field.detail && !names && field.detail !== whole && <Detail detail={field.detail} />}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** What CH ELM prescribes as the specimen where no code is needed. */
const MATERIAL_BY_TEST = "Material declared by Observation.code or non-mandatory";

/** Fields whose values are dates. */
const DATED = /\.(birth-date|effective|issued|date|timestamp|collected|received|authored)$/;

/** A number that people know by name (GLN, AHV) is named; any other system stands as it is. */
function Detail({ detail }: { detail: string }) {
  const text = useText();
  const known = text.code(`system.${detail}`);
  return known ? <span className={css.system}>{known}</span> : <code>{detail}</code>;
}
