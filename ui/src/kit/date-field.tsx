// A day, typed part by part in the order that the language of the window has.

import { parseDate } from "@internationalized/date";
import type { CalendarDate } from "@internationalized/date";
import { useMemo } from "react";
import type { KeyboardEvent } from "react";
import { DateField as AriaDateField, DateInput, DateSegment, Label } from "react-aria-components";

import controls from "./controls.module.css";
import css from "./date-field.module.css";

/** `value`: as `2026-11-21`, or empty. What is typed halfway counts as no day. */
export function DateField({
  label,
  value,
  onChange,
  "data-testid": id,
}: {
  label: string;
  value: string;
  onChange: (day: string) => void;
  "data-testid"?: string;
}) {
  // A day that is typed halfway stands in the field alone: React Aria keeps it until its value is another one.
  const day = useMemo(() => dayOf(value), [value]);
  return (
    <AriaDateField
      className={controls.field}
      value={day}
      onChange={(typed) => onChange(typed?.toString() ?? "")}
      granularity="day"
      shouldForceLeadingZeros
      onKeyDown={submit}
      data-testid={id}
    >
      <Label className={controls.label}>{label}</Label>
      <DateInput className={`${controls.input} ${css.parts}`}>
        {(segment) => <DateSegment segment={segment} className={css.part ?? ""} />}
      </DateInput>
    </AriaDateField>
  );
}

/** Enter asks, as in every other field of a form; the parts of a day are none of the browser's own. */
function submit(event: KeyboardEvent) {
  if (event.key === "Enter" && event.target instanceof Element) event.target.closest("form")?.requestSubmit();
}

/** What is no day of the calendar counts as none. */
function dayOf(value: string): CalendarDate | null {
  if (value === "") return null;
  try {
    return parseDate(value);
  } catch {
    return null;
  }
}
