// The report as a form to read, each message inside the section that it concerns.

import { useEffect, useRef } from "react";

import type { DetailView } from "../bridge/generated/DetailView";
import type { MessageView } from "../bridge/generated/MessageView";
import type { SectionView } from "../bridge/generated/SectionView";
import { useCodeText, useText } from "../i18n/text";
import type { Pointer } from "../place";
import { Message } from "./message";
import css from "./report-content.module.css";

export function ReportContent({ view, pointer }: { view: DetailView; pointer: Pointer }) {
  const text = useText();
  const unplaced = view.messages.filter((message) => message.section === null && message.line === null);
  return (
    <div className={css.content}>
      {unplaced.some((message) => message.source === "authority") && (
        <p className={css.unplaced}>{text("content.unplaced")}</p>
      )}
      {view.sections.length === 0 && <p className={css.unplaced}>{text("content.empty")}</p>}
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
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!pointer) return;
    const field = pointer.field && box.current?.querySelector(`[data-field="${CSS.escape(pointer.field)}"]`);
    (field || box.current)?.scrollIntoView({ block: "center" });
  }, [pointer]);
  return (
    <section ref={box} className={css.section} data-section={section.resource}>
      <h3>{words("section", section.resource)}</h3>
      <dl>
        {section.fields.map((field, at) => {
          const concerned = messages.find((message) => message.field === field.key);
          return (
            <div
              key={`${field.expression}#${at}`}
              data-field={field.key}
              className={`${concerned ? css[concerned.severity] : ""} ${pointer?.field === field.key ? css.shown : ""}`}
            >
              <dt>{words("field", field.key)}</dt>
              <dd className="selectable">
                {field.value}
                {field.detail && field.detail !== field.value && <code>{field.detail}</code>}
              </dd>
            </div>
          );
        })}
      </dl>
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
