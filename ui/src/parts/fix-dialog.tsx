// One change for all reports of a cause: where, if, do; what it would do; one goes first, and its verdict decides.

import { CircleCheck, Send, Square } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { door } from "#door";

import { problemOf } from "../bridge/door";
import type { Caller, Fix } from "../bridge/door";
import type { BatchView } from "../bridge/generated/BatchView";
import type { CauseFieldView } from "../bridge/generated/CauseFieldView";
import type { FixView } from "../bridge/generated/FixView";
import type { Problem } from "../bridge/generated/Problem";
import { useCodeText, useText } from "../i18n/text";
import { workGoesOn } from "../lock";
import { Button, Select, TextField } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import { Difference } from "./difference";
import css from "./fix-dialog.module.css";
import { Notice, ProblemNote } from "../kit/notes";
import { say } from "../kit/toasts";
import { Hidden, namesSomebody } from "./veil";
import { useWindow } from "../place";

/** Corrections whose verdict is awaited at a time: enough to be quick, few enough to stop in time. */
const ON_THE_WAY_MAX = 20;
/** Failures after which it stops by itself. */
const FAILURES_MAX = 2;
const LOOK_MS = 300;

export function FixDialog({ ids, onClose }: { ids: number[]; onClose: () => void }) {
  const text = useText();
  const [fields, setFields] = useState<CauseFieldView[]>();
  const [fix, setFix] = useState<Fix>({ path: "", find: "", replace: "" });
  const [problem, setProblem] = useState<Problem>();
  const { reveal } = useWindow();
  const names = !reveal && namesSomebody(fix.path);
  const [here] = useState(() => door.here());
  useEffect(() => {
    here.call("cause_fields", { ids }).then(
      (found) => {
        setFields(found);
        const [first] = found;
        if (first) setFix({ path: first.path, find: first.values[0]?.value ?? "", replace: "" });
      },
      (thrown) => setProblem(problemOf(thrown)),
    );
  }, [ids, here]);
  const preview = usePreview(here, ids, fix);
  const run = useRun(here, fix);
  const ready = preview?.ready ?? [];
  const [first, ...rest] = ready;
  return (
    <Dialog
      title={text("fix.title", { n: ids.length })}
      isDirty={run.phase === "none" ? fix.replace !== "" : run.phase === "first" || run.phase === "rest"}
      onClose={onClose}
      footer={
        <Steps
          run={run}
          rest={rest.length}
          disabled={first === undefined}
          onFirst={() => first !== undefined && run.begin(first)}
          onRest={() => run.goOn(rest)}
          onClose={onClose}
        />
      }
    >
      {problem && <ProblemNote problem={problem} />}
      {run.problem && <ProblemNote problem={run.problem} />}
      {fields?.length === 0 && <Notice tone="caution" title={text("fix.no-field")} />}
      {run.phase === "none" && names && <Hidden />}
      {run.phase === "none" && !names && fields && fields.length > 0 && (
        <Terms fields={fields} fix={fix} onChange={setFix} />
      )}
      {run.phase === "none" ? !names && preview && <Preview view={preview} /> : <Progress run={run} rest={rest.length} />}
    </Dialog>
  );
}

function Terms({ fields, fix, onChange }: { fields: CauseFieldView[]; fix: Fix; onChange: (fix: Fix) => void }) {
  const text = useText();
  const words = useCodeText();
  const values = fields.find((field) => field.path === fix.path)?.values ?? [];
  const where = (path: string) => {
    const next = fields.find((field) => field.path === path)?.values[0];
    onChange({ path, find: next?.value ?? "", replace: "" });
  };
  return (
    <div className={css.terms}>
      <Select
        label={text("fix.where")}
        value={fix.path}
        choices={fields.map(({ path }) => ({ id: path, name: words("path", path) }))}
        onChange={where}
      />
      <Select
        label={text("fix.if")}
        value={fix.find}
        choices={values.map(({ value, count }) => ({ id: value, name: text("fix.value", { value, n: count }) }))}
        onChange={(find) => onChange({ ...fix, find })}
        data-testid="fix-find"
      />
      <TextField
        label={text("fix.do")}
        value={fix.replace}
        onChange={(replace) => onChange({ ...fix, replace })}
        autoFocus
        data-testid="fix-replace"
      />
    </div>
  );
}

function Preview({ view }: { view: FixView }) {
  const text = useText();
  const { ready, invalid, unchanged, example } = view;
  return (
    <section className={css.preview} data-testid="fix-preview">
      <strong>{text("fix.preview", { n: ready.length, invalid: invalid.length, unchanged: unchanged.length })}</strong>
      <Difference changes={example} changed={example.length} max={5} />
    </section>
  );
}

function Progress({ run, rest }: { run: Run; rest: number }) {
  const text = useText();
  const { phase, completed, failed, sent } = run;
  const n = phase === "rest" ? rest + 1 : sent;
  return (
    <section className={css.preview} aria-live="polite" data-testid="fix-progress" data-phase={phase}>
      {phase === "first" && <strong>{text("fix.first.waiting")}</strong>}
      {phase === "first-completed" && (
        <strong className={css.good}>
          <CircleCheck aria-hidden size={18} /> {text("fix.first.completed", { n: rest })}
        </strong>
      )}
      {phase === "stopped" && (
        <strong className={css.bad}>
          {text("fix.stopped", { completed, failed })} {text("fix.stopped.rest", { held: run.held, moving: run.moving })}
        </strong>
      )}
      {phase === "rest" && <strong>{text("fix.rest", { completed, failed, sent, n })}</strong>}
      {phase === "done" && (
        <strong className={failed > 0 ? css.bad : css.good}>{text("fix.done", { completed, failed })}</strong>
      )}
      {phase !== "first" && (
        <progress aria-label={text("fix.title", { n })} max={Math.max(1, n)} value={completed + failed} />
      )}
    </section>
  );
}

function Steps(props: {
  run: Run;
  rest: number;
  disabled: boolean;
  onFirst: () => void;
  onRest: () => void;
  onClose: () => void;
}) {
  const { run, rest, disabled, onFirst, onRest, onClose } = props;
  const text = useText();
  switch (run.phase) {
    case "none":
      return (
        <>
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button tone="primary" icon={Send} isDisabled={disabled} onPress={onFirst} data-testid="fix-first">
            {text(rest === 0 ? "fix.only" : "fix.first")}
          </Button>
        </>
      );
    case "first":
    case "rest":
      return (
        <Button icon={Square} onPress={run.stop}>
          {text("fix.stop")}
        </Button>
      );
    case "first-completed":
      return (
        <>
          <Button tone="quiet" onPress={onClose}>
            {text("fix.not-the-rest")}
          </Button>
          <Button tone="primary" icon={Send} autoFocus onPress={onRest} data-testid="fix-rest">
            {text("fix.rest.go", { n: rest })}
          </Button>
        </>
      );
    default:
      return (
        <Button tone="primary" autoFocus onPress={onClose}>
          {text("action.close")}
        </Button>
      );
  }
}

function usePreview(here: Caller, ids: number[], fix: Fix): FixView | undefined {
  const [preview, setPreview] = useState<{ of: Fix; view: FixView }>();
  useEffect(() => {
    let current = true;
    if (!fix.find || !fix.replace || fix.find === fix.replace) return undefined;
    const timer = setTimeout(() => {
      here.call("fix_preview", { ids, ...fix }).then(
        (view) => current && setPreview({ of: fix, view }),
        () => current && setPreview(undefined),
      );
    }, LOOK_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [here, ids, fix]);
  // A preview of other terms must never be acted on.
  return preview?.of === fix ? preview.view : undefined;
}

interface Run {
  phase: "none" | "first" | "first-completed" | "rest" | "done" | "stopped";
  sent: number;
  completed: number;
  failed: number;
  /** Taken in and on hold, because it was stopped or because of what was found. */
  held: number;
  /** Taken in and not finished. */
  moving: number;
  problem: Problem | undefined;
  begin: (id: number) => void;
  goOn: (ids: number[]) => void;
  stop: () => void;
}

/** Sends corrections one by one, never more at a time than can be stopped, and stops at the second that fails. */
export function useRun(here: Caller, fix: Fix): Run {
  const text = useText();
  const [phase, setPhase] = useState<Run["phase"]>("none");
  const [view, setView] = useState<BatchView>();
  const [problem, setProblem] = useState<Problem>();
  const sent = useRef<number[]>([]);
  const stopped = useRef(false);
  const done = useRef(0);
  /** Corrections that were asked for and are not begun. */
  const left = useRef(0);
  /** The dialog is closed: nothing further is begun, and what was begun goes on. */
  const gone = useRef(false);
  useEffect(() => {
    gone.current = false;
    stopped.current = false;
    return () => {
      gone.current = true;
      stopped.current = true;
    };
  }, []);
  const look = async () => {
    const now = await here.call("batch", { ids: sent.current });
    setView(now);
    const verdicts = now.completed + now.attention.length;
    if (verdicts !== done.current) workGoesOn();
    done.current = verdicts;
    return now;
  };
  const send = async (id: number) => {
    const given = await here.call("fix", { id, ...fix });
    const [next] = given.submissions;
    if (next !== null && next !== undefined) sent.current = [...sent.current, next];
    workGoesOn();
  };
  /** Waits until at most so many have no verdict. */
  const until = async (moving: number) => {
    for (;;) {
      const now = await look();
      if (now.moving <= moving || now.attention.length >= FAILURES_MAX || stopped.current) return now;
      await new Promise((next) => setTimeout(next, 250));
    }
  };
  /** Nothing further is begun, and what has not left is held back. */
  const halt = async () => {
    stopped.current = true;
    // A refusal says that nothing was left to be held back: how it stands is looked up all the same.
    if (sent.current.length > 0) await here.call("hold_back", { ids: sent.current }).catch(() => undefined);
    await look();
    setPhase("stopped");
  };
  const guarded = (act: () => Promise<void>) =>
    act()
      .catch((thrown: unknown) => {
        if (gone.current) return undefined;
        setProblem(problemOf(thrown));
        return halt().catch(() => setPhase("stopped"));
      })
      .then(() => {
        // The window was locked, or another screen was opened: it is told where somebody is there to read it.
        if (!gone.current || left.current === 0) return;
        say({ tone: "attention", title: text("fix.left", { n: sent.current.length, rest: left.current }) });
        left.current = 0;
      });
  const attention = view?.attention.length ?? 0;
  const held = Math.min(view?.byState.held ?? 0, attention);
  return {
    phase,
    sent: sent.current.length,
    completed: view?.completed ?? 0,
    failed: attention - held,
    held,
    moving: view?.moving ?? 0,
    problem,
    begin: (id) =>
      void guarded(async () => {
        setPhase("first");
        await send(id);
        const now = await until(0);
        if (gone.current) return;
        if (now.completed === 1 && !stopped.current) setPhase("first-completed");
        else await halt();
      }),
    goOn: (ids) =>
      void guarded(async () => {
        setPhase(ids.length === 0 ? "done" : "rest");
        left.current = ids.length;
        for (const id of ids) {
          const now = await until(ON_THE_WAY_MAX - 1);
          if (gone.current) return;
          if (stopped.current || now.attention.length >= FAILURES_MAX) return halt();
          await send(id);
          left.current -= 1;
        }
        const now = await until(0);
        if (gone.current) return;
        if (now.moving > 0) await halt();
        else setPhase("done");
      }),
    stop: () => void guarded(halt),
  };
}
