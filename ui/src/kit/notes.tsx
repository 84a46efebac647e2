// Empty states, notices and problems: each says why, and what next.

import { CloudOff, Info, LockKeyhole, RefreshCw, TriangleAlert } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

import type { Problem } from "../bridge/generated/Problem";
import { useCodeText, useText } from "../i18n/text";
import type { Text } from "../i18n/text";
import { Button } from "./controls";
import css from "./notes.module.css";

/** How a thing looks by what it asks of the reader; the tokens have a colour for each. */
export type Tone = "attention" | "caution" | "progress" | "doubt" | "done" | "quiet";

export function Empty(props: { icon: LucideIcon; title: string; children?: ReactNode; actions?: ReactNode }) {
  const { icon: Icon, title, children, actions } = props;
  return (
    <div className={css.empty}>
      <Icon aria-hidden size={36} strokeWidth={1.4} />
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {actions && <div className={css.actions}>{actions}</div>}
    </div>
  );
}

export function Notice(props: {
  tone: Tone;
  icon?: LucideIcon;
  title?: string;
  children?: ReactNode;
  actions?: ReactNode;
  role?: "alert" | "status";
  "data-testid"?: string;
}) {
  const { tone, icon: Icon = tone === "attention" || tone === "caution" ? TriangleAlert : Info } = props;
  return (
    <div
      className={`${css.notice} ${css[tone]} ${props.actions && !props.children ? css.single : ""}`}
      role={props.role}
      data-testid={props["data-testid"]}
    >
      <Icon aria-hidden size={18} className={css.icon} />
      <div className={css.words}>
        {props.title && <strong>{props.title}</strong>}
        {props.children && <div>{props.children}</div>}
      </div>
      {props.actions && <div className={css.actions}>{props.actions}</div>}
    </div>
  );
}

/** Parameters as `name: value`, for codes that this window does not know. */
export function paramsText(params: Record<string, string>): string {
  return Object.entries(params)
    .map(([name, value]) => `${name}: ${value}`)
    .join(" · ");
}

/** A certificate that no endpoint uses any more is needed by reports. */
const caseOf = ({ code, params }: Problem) => `${code}${params.endpoints === "" ? "-by-reports" : ""}`;

/** What a file is that is no certificate: its kind has a sentence of its own. */
const foreignFile = (text: Text, { code, params }: Problem) =>
  code === "certificate-not-a-certificate-file" ? text.code(`foreign-file.${params.found}`) : undefined;

/** What happened, and what it means, in the reader's language. */
export function problemText(text: Text, problem: Problem): { title: string; more: string } {
  const id = `problem.${caseOf(problem)}`;
  const title = text.code(id, problem.params);
  if (title) return { title, more: foreignFile(text, problem) ?? text.code(`${id}.more`, problem.params) ?? "" };
  return { title: text("problem.unfamiliar", { code: problem.code }), more: paramsText(problem.params) };
}

/** `remedy` stands in place of what is to be done as a rule. */
export function ProblemNote(props: { problem: Problem; actions?: ReactNode; remedy?: string | undefined }) {
  const { problem, actions, remedy } = props;
  const text = useText();
  const words = useCodeText();
  const { title, more } = problemText(text, problem);
  const icon = problem.blame === "network" ? CloudOff : problem.blame === "authority" ? LockKeyhole : TriangleAlert;
  return (
    <Notice
      tone={problem.blame === "network" ? "caution" : "attention"}
      icon={icon}
      title={title}
      actions={actions}
      role="alert"
    >
      {more && <p className="selectable">{more}</p>}
      {/* What is to be done about this very problem, where what helps with most of its kind would be wrong. */}
      <p>{remedy ?? text.code(`next.${caseOf(problem)}`, problem.params) ?? words("remedy", problem.remedy)}</p>
      {/* For whoever helps; the reader has been told in words. */}
      <details className={css.trace}>
        <summary>{text("certificate.details")}</summary>
        <code className="selectable">{[problem.code, problem.trace].filter(Boolean).join(" · ")}</code>
      </details>
    </Notice>
  );
}

/** What is asked of the core and changes nothing. */
interface Read {
  error: Problem | null;
  isFetching: boolean;
  refetch: () => unknown;
}

/** Asks once more for what could not be read. */
export function ReadAgain({ of, tone = "plain" }: { of: Read; tone?: "plain" | "quiet" }) {
  const text = useText();
  return (
    <Button
      tone={tone}
      icon={RefreshCw}
      isPending={of.isFetching}
      onPress={() => void of.refetch()}
      data-testid="read-again"
    >
      {text("action.again")}
    </Button>
  );
}

/** A read that failed, as long as it has not gone well: to ask once more does no harm and is often enough. */
export function ReadProblem({ of, actions }: { of: Read; actions?: ReactNode }) {
  if (!of.error) return null;
  return (
    <ProblemNote
      problem={of.error}
      actions={
        <>
          <ReadAgain of={of} />
          {actions}
        </>
      }
    />
  );
}
