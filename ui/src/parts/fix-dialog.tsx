// One change for all reports of a cause: where, if, do; what it would do; one goes first, and its verdict decides.

import { CircleCheck, Send, Square } from "lucide-react";
import { useEffect, useState } from "react";

import { door } from "#door";

import { problemOf } from "../bridge/door";
import type { Fix } from "../bridge/door";
import type { CauseFieldView } from "../bridge/generated/CauseFieldView";
import type { UnfinishedFix } from "../bridge/generated/UnfinishedFix";
import { useCodeText, useText } from "../i18n/text";
import { Button, Select, TextField } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import { sayProblem } from "../kit/toasts";
import { Difference } from "./difference";
import css from "./fix-dialog.module.css";
import { useRun } from "./fix-run";
import type { Run } from "./fix-run";
import { fieldsOf, useFailed, usePreview } from "./fix-steps";
import type { Preview } from "./fix-steps";
import { Notice, ProblemNote, ReadProblem } from "../kit/notes";
import { Hidden, namesSomebody } from "./veil";
import { useWindow } from "../place";

export function FixDialog(props: {
  ids: number[];
  /** What was broken off before and is taken up now. */
  left?: UnfinishedFix | undefined;
  onClose: () => void;
}) {
  const { ids, left, onClose } = props;
  const text = useText();
  const [fields, setFields] = useState<CauseFieldView[]>();
  const [fix, setFix] = useState<Fix>({ path: left?.path ?? "", find: left?.find ?? "", replace: left?.replace ?? "" });
  const { read, asked, setError } = useFailed();
  const { reveal } = useWindow();
  const names = !reveal && namesSomebody(fix.path);
  const [here] = useState(() => door.here());
  useEffect(() => {
    let current = true;
    const told = (found: CauseFieldView[]) => {
      if (!current) return false;
      setFields(found);
      const [first] = found;
      // What somebody has chosen meanwhile stays.
      if (first)
        setFix((old) => (old.path ? old : { path: first.path, find: first.values[0]?.value ?? "", replace: "" }));
      return true;
    };
    fieldsOf(here, ids, told).catch((thrown) => current && setError(problemOf(thrown)));
    return () => {
      current = false;
    };
  }, [ids, here, asked, setError]);
  const { preview, read: looked } = usePreview(here, ids, fix);
  // Another change than the one that was tried is tried first.
  const taken = left && isOf(left, fix) ? left : undefined;
  const keep = (rest: number[]) =>
    void here.call("keep_fix", { fix: { ...fix, sent: rest.length > 0 ? 1 : 0, rest } }).catch(sayProblem(text));
  const run = useRun(here, fix, keep);
  // Nothing is sent before it is known of each what the change does to it.
  const ready = preview?.looked === ids.length ? preview.view.ready : [];
  const [first, ...others] = ready;
  const rest = taken ? ready : others;
  // Once all of them are sent, nothing can be stopped.
  const isUnderWay = run.phase === "first" ? rest.length > 0 : run.phase === "rest" && run.left > 0;
  const leaving = { question: text("fix.leave", { sent: run.sent }), leave: text("fix.stop"), stay: text("fix.go-on") };
  return (
    <Dialog
      title={text("fix.title", { n: ids.length })}
      isDirty={run.phase === "none" ? fix.replace !== (left?.replace ?? "") : isUnderWay}
      // Nothing leaves while a person decides about it.
      onAsking={run.pause}
      leaving={isUnderWay ? leaving : undefined}
      onClose={onClose}
      footer={
        <Steps
          run={run}
          rest={rest.length}
          isTakenUp={taken !== undefined}
          // Until it is known which can be sent, the first of so many is what the button is about.
          isOnly={first === undefined ? ids.length === 1 : rest.length === 0}
          disabled={first === undefined}
          onFirst={() => first !== undefined && run.begin(first, rest)}
          onRest={() => run.goOn(rest)}
          onClose={onClose}
        />
      }
    >
      <ReadProblem of={read} />
      {run.problem && <ProblemNote problem={run.problem} />}
      {fields?.length === 0 && <Notice tone="caution" title={text("fix.no-field")} />}
      {run.phase === "none" && names && <Hidden />}
      {run.phase === "none" && !names && fields && fields.length > 0 && (
        <Terms fields={fields} fix={fix} onChange={setFix} />
      )}
      {run.phase === "none" ? (
        !names && (preview ? <Looked preview={preview} of={ids.length} /> : <ReadProblem of={looked} />)
      ) : (
        <Progress run={run} rest={rest.length} of={ready.length} />
      )}
      <Said run={run} rest={rest.length} />
    </Dialog>
  );
}

const isOf = (left: UnfinishedFix, fix: Fix) =>
  left.path === fix.path && left.find === fix.find && left.replace === fix.replace;

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

function Looked({ preview, of }: { preview: Preview; of: number }) {
  const text = useText();
  const { ready, invalid, unchanged, edited, example } = preview.view;
  return (
    <section className={css.preview} data-testid="fix-preview">
      {preview.looked < of && (
        <>
          <span>{text("fix.looking", { done: preview.looked, n: of })}</span>
          <progress aria-label={text("fix.title", { n: of })} max={of} value={preview.looked} />
        </>
      )}
      <strong>{text("fix.preview", { n: ready.length, invalid: invalid.length, unchanged: unchanged.length })}</strong>
      {edited.length > 0 && <span>{text("fix.edited", { n: edited.length })}</span>}
      <Difference changes={example} changed={example.length} max={5} />
    </section>
  );
}

function Progress({ run, rest, of }: { run: Run; rest: number; of: number }) {
  const text = useText();
  const { phase, completed, failed, sent } = run;
  const n = phase === "rest" || phase === "first-completed" ? of : sent;
  return (
    <section className={css.preview} data-testid="fix-progress" data-phase={phase}>
      {phase === "first" && <strong>{text("fix.first.waiting")}</strong>}
      {phase === "first-completed" && (
        <strong className={css.good}>
          <CircleCheck aria-hidden size={18} /> {text("fix.first.completed", { n: rest })}
        </strong>
      )}
      {phase === "stopped" && (
        <strong className={failed > 0 || run.problem ? css.bad : undefined}>
          {text("fix.stopped", { completed, failed })}{" "}
          {text("fix.stopped.rest", { held: run.held, moving: run.moving })}
          {run.left > 0 && ` ${text("fix.stopped.left", { n: run.left })}`}
        </strong>
      )}
      {phase === "rest" && <strong>{text("fix.rest", { completed, failed, sent, n })}</strong>}
      {phase === "rest" && run.left === 0 && <span>{text("fix.all-sent")}</span>}
      {phase === "done" && (
        <strong className={failed > 0 ? css.bad : css.good}>{text("fix.done", { completed, failed })}</strong>
      )}
      {/* What was stopped comes no further. */}
      {phase !== "first" && phase !== "stopped" && (
        <progress aria-label={text("fix.title", { n })} max={Math.max(1, n)} value={completed + failed} />
      )}
    </section>
  );
}

/** Said once for each phase, with the figures of its beginning; figures that change four times a second and are read
 *  aloud drown everything else. */
function Said({ run, rest }: { run: Run; rest: number }) {
  const text = useText();
  const { phase, completed, failed, held, moving } = run;
  const [said, setSaid] = useState<{ phase: Run["phase"]; words: string }>({ phase: "none", words: "" });
  if (said.phase !== phase) {
    const stopped = [text("fix.stopped", { completed, failed }), text("fix.stopped.rest", { held, moving })];
    const words = {
      none: "",
      first: text("fix.first.waiting"),
      "first-completed": text("fix.first.completed", { n: rest }),
      rest: text("batch.said.moving", { n: rest }),
      stopped: stopped.join(" "),
      done: text("fix.done", { completed, failed }),
    };
    setSaid({ phase, words: words[phase] });
  }
  return (
    <p role="status" className="visually-hidden" data-testid="fix-said">
      {said.words}
    </p>
  );
}

function Steps(props: {
  run: Run;
  rest: number;
  /** The first of them was sent earlier, and is completed. */
  isTakenUp: boolean;
  isOnly: boolean;
  disabled: boolean;
  onFirst: () => void;
  onRest: () => void;
  onClose: () => void;
}) {
  const { run, rest, isTakenUp, isOnly, disabled, onFirst, onRest, onClose } = props;
  const text = useText();
  switch (run.phase) {
    case "none":
      return (
        <>
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          {isTakenUp ? (
            <Button tone="primary" icon={Send} isDisabled={disabled} onPress={onRest} data-testid="fix-rest">
              {text("fix.rest.left", { n: rest })}
            </Button>
          ) : (
            <Button tone="primary" icon={Send} isDisabled={disabled} onPress={onFirst} data-testid="fix-first">
              {text(isOnly ? "fix.only" : "fix.first")}
            </Button>
          )}
        </>
      );
    case "first":
    case "rest":
      return (
        <Button icon={Square} onPress={run.stop} data-testid="fix-stop">
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
