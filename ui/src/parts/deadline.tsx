// The clock of a report: how much time is left until the authority must have it.

import { AlarmClock, AlarmClockOff } from "lucide-react";
import { useEffect, useState } from "react";

import { useFormat, useText } from "../i18n/text";
import css from "./deadline.module.css";

/** Seconds before the end from which on it stands out. */
const SOON = 6 * 3600;
/** How often the time is looked at, milliseconds: it is told in minutes at the finest. */
const LOOK_MS = 30_000;

/** The time as it goes on. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** "3 hours left", "2 days late", where there is little room "3 h left"; the exact time on hover. */
export function Deadline({ due, isShort }: { due: string; isShort?: boolean }) {
  const text = useText();
  const format = useFormat();
  const left = Math.round((Date.parse(due) - useNow()) / 1000);
  const time = (isShort ? format.shortDuration : format.duration)(Math.max(60, Math.abs(left)));
  const Icon = left < 0 ? AlarmClockOff : AlarmClock;
  return (
    <span
      className={`${css.deadline} ${left < 0 ? css.late : left < SOON ? css.soon : ""}`}
      title={text("deadline.exact", { time: format.exact(due) })}
      data-testid="deadline"
      data-late={left < 0}
    >
      <Icon aria-hidden size={14} />
      <span className={css.time}>{text(left < 0 ? "deadline.late" : "deadline.left", { time })}</span>
    </span>
  );
}
