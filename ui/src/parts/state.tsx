// A state is a word, an icon and a shape; colour only repeats what they say.

import {
  Archive,
  ArrowUpCircle,
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CirclePause,
  Clock,
  OctagonX,
  RefreshCcwDot,
  TriangleAlert,
  UserCheck,
} from "lucide-react";
import type { LucideIcon } from "lucide-react";

import type { State } from "../bridge/generated/State";
import { useCodeText } from "../i18n/text";
import type { Tone } from "../kit/notes";
import css from "./state.module.css";

/** Every state of the life cycle, in its order. */
export const STATES: Record<State, { icon: LucideIcon; tone: Tone }> = {
  held: { icon: CirclePause, tone: "caution" },
  queued: { icon: Clock, tone: "quiet" },
  sending: { icon: ArrowUpCircle, tone: "progress" },
  unknown: { icon: CircleHelp, tone: "doubt" },
  "in-progress": { icon: CircleDashed, tone: "progress" },
  completed: { icon: CircleCheck, tone: "done" },
  rejected: { icon: OctagonX, tone: "attention" },
  failed: { icon: TriangleAlert, tone: "attention" },
  withdrawn: { icon: Archive, tone: "quiet" },
  "said-received": { icon: UserCheck, tone: "quiet" },
  superseded: { icon: RefreshCcwDot, tone: "quiet" },
};

/** Their codes. */
export const STATE_CODES = Object.keys(STATES) as State[];
/** Those of reports that stand for themselves: a correction is counted in place of what it corrects. */
export const NOT_CORRECTED = STATE_CODES.filter((state) => state !== "superseded");

export const toneOf = (state: State): Tone => STATES[state].tone;

export function StateMark({ state, size = 18 }: { state: State; size?: number }) {
  const { icon: Icon, tone } = STATES[state];
  return <Icon aria-hidden size={size} strokeWidth={2} className={`${css.mark} ${css[tone]}`} />;
}

/** Icon and word. */
export function StateLabel({ state, size }: { state: State; size?: number }) {
  const words = useCodeText();
  return (
    <span className={`${css.label} ${css[toneOf(state)]}`}>
      <StateMark state={state} size={size} />
      <span className={css.word} title={words("state", state)}>
        {words("state", state)}
      </span>
    </span>
  );
}

/** Icon and word on a ground, for headers. */
export function StateBadge({ state, ...rest }: { state: State; "data-testid"?: string }) {
  const words = useCodeText();
  return (
    <span {...rest} data-state={state} className={`${css.badge} ${css[toneOf(state)]}`}>
      <StateMark state={state} size={16} />
      {words("state", state)}
    </span>
  );
}
