// The authority's rules: packages are imported, and what one would change is shown before it is used.

import { PackagePlus, Trash2 } from "lucide-react";
import { useState } from "react";

import { door } from "#door";

import { problemOf } from "../bridge/door";
import type { Problem } from "../bridge/generated/Problem";
import type { RulesEntry } from "../bridge/generated/RulesEntry";
import type { RulesPlanView } from "../bridge/generated/RulesPlanView";
import { useCommand, useRules, useRulesPlan } from "../bridge/queries";
import { useFormat, useText } from "../i18n/text";
import { Button } from "../kit/controls";
import { Confirm, Dialog } from "../kit/dialog";
import { Message } from "../parts/message";
import { diseaseOf } from "../parts/subject";
import { Notice, ProblemNote, ReadProblem } from "../kit/notes";
import screen from "../kit/screen.module.css";
import { say, sayProblem } from "../kit/toasts";
import css from "./rules.module.css";
import settings from "./settings.module.css";

export const labelOf = ({ name, version }: RulesEntry): string => `${name}@${version}`;

export function Rules() {
  const text = useText();
  const format = useFormat();
  const rules = useRules();
  const files = useImport(() => void rules.refetch());
  const [planned, setPlanned] = useState<RulesEntry>();
  const [removing, setRemoving] = useState<RulesEntry>();
  const all = rules.data ?? [];
  return (
    <section className={screen.card} data-testid="rules">
      <div className={screen.row}>
        <h2>{text("rules.title")}</h2>
        <Button icon={PackagePlus} onPress={files.choose} isPending={files.done !== null} data-testid="rules-import">
          {text("rules.import")}
        </Button>
      </div>
      <p className={screen.lead}>{text("rules.lead")}</p>
      {files.done !== null && (
        <div className={css.progress} role="status">
          <progress max={files.count} value={files.done} aria-label={text("rules.import")} />
          <span>{text("rules.importing", { done: files.done, n: files.count })}</span>
        </div>
      )}
      {files.problems.map((problem, at) => (
        <ProblemNote key={at} problem={problem} />
      ))}
      <ReadProblem of={rules} />
      {rules.data && all.length === 0 && <Notice tone="caution" title={text("rules.none")} />}
      <ul className={settings.endpoints}>
        {all.map((entry) => (
          <li key={labelOf(entry)} className={entry.inUse ? settings.inUse : ""} data-testid="rules-package">
            <div className={settings.endpoint}>
              <strong>{labelOf(entry)}</strong>
              <span>{text("rules.facts", { n: entry.definitions, time: format.at(entry.imported) })}</span>
              {entry.missing.map(({ name, wanted, instead }) => (
                <span key={name} data-testid="rules-missing">
                  {instead === null
                    ? text("rules.missing", { name, version: wanted })
                    : text("rules.instead", { name, version: wanted, instead })}
                </span>
              ))}
              {entry.outdated && <span data-testid="rules-outdated">{text("rules.outdated")}</span>}
            </div>
            <div className={screen.tools}>
              <Button
                tone="quiet"
                icon={Trash2}
                label={text("rules.remove.of", { name: labelOf(entry) })}
                onPress={() => setRemoving(entry)}
                data-testid="rules-remove"
              />
              {entry.inUse && <span className={settings.mark}>{text("rules.in-use")}</span>}
              {(!entry.inUse || entry.outdated) && (
                <Button onPress={() => setPlanned(entry)} data-testid="rules-use">
                  {text("rules.use")}
                </Button>
              )}
            </div>
          </li>
        ))}
      </ul>
      {planned && <UseDialog name={labelOf(planned)} onClose={() => setPlanned(undefined)} />}
      {removing && <RemoveDialog entry={removing} onClose={() => setRemoving(undefined)} />}
    </section>
  );
}

/** One file after the other, all in the room of the beginning; one that cannot be used keeps no other out. */
function useImport(onDone: () => void) {
  const text = useText();
  const [state, set] = useState<{ done: number | null; count: number; problems: Problem[] }>({
    done: null,
    count: 0,
    problems: [],
  });
  const bring = async (paths: string[]) => {
    if (paths.length === 0) return;
    const here = door.here();
    const problems: Problem[] = [];
    for (const [done, path] of paths.entries()) {
      set({ done, count: paths.length, problems });
      await here.call("import_rules", { path }).catch((thrown: unknown) => problems.push(problemOf(thrown)));
    }
    set({ done: null, count: 0, problems });
    const n = paths.length - problems.length;
    if (n > 0) say({ tone: "done", title: text("rules.imported", { n }) });
    onDone();
  };
  const choose = () => void door.call("choose_files", { purpose: "rules" }).then(bring).catch(sayProblem(text));
  return { ...state, choose };
}

/** What would change, before anything does. */
function UseDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const text = useText();
  const plan = useRulesPlan(name);
  const use = useCommand("use_rules", {
    onDone() {
      onClose();
      say({ tone: "done", title: text("rules.used", { name }) });
    },
  });
  return (
    <Dialog
      title={text("rules.plan.title", { name })}
      onClose={onClose}
      footer={
        <>
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button
            tone="primary"
            isDisabled={!plan.data}
            isPending={use.isPending}
            onPress={() => use.mutate({ package: name })}
            data-testid="rules-use-confirm"
          >
            {text("rules.plan.confirm")}
          </Button>
        </>
      }
    >
      {plan.isPending && (
        <div className={css.progress} role="status">
          <progress aria-label={text("rules.plan.looking")} />
          <span>{text("rules.plan.looking")}</span>
        </div>
      )}
      {plan.data && <Plan plan={plan.data} />}
      <ReadProblem of={plan} />
      {use.error && <ProblemNote problem={use.error} />}
    </Dialog>
  );
}

function Plan({ plan }: { plan: RulesPlanView }) {
  const text = useText();
  const { looked, refused, accepted, still } = plan;
  const same = refused === 0 && accepted === 0;
  const sum =
    looked === 0
      ? text("rules.plan.none")
      : same
        ? text("rules.plan.same", { n: looked })
        : text("rules.plan.refused", { n: looked, refused });
  return (
    <div className={css.plan} data-testid="rules-plan">
      <p className={screen.lead}>
        {plan.inUse === null ? text("rules.plan.first") : text("rules.plan.in-use", { name: plan.inUse })}
      </p>
      <Notice tone={refused > 0 ? "caution" : "done"} title={sum}>
        {accepted > 0 && <p>{text("rules.plan.accepted", { n: accepted })}</p>}
        {still > 0 && <p>{text("rules.plan.still", { n: still })}</p>}
      </Notice>
      {plan.reasons.length > 0 && (
        <>
          <h3>{text("rules.plan.why")}</h3>
          <ul className={css.reasons}>
            {plan.reasons.map(({ message, reports }, at) => (
              <li key={at} data-testid="rules-reason">
                <span className={css.count}>{text("rules.plan.count", { n: reports })}</span>
                <ul>
                  <Message message={message} compact />
                </ul>
              </li>
            ))}
          </ul>
          <h3>{text("rules.plan.reports")}</h3>
          <ul className={css.reports}>
            {plan.reports.map((row) => (
              <li key={row.id} data-testid="rules-report">
                <span>{row.file}</span>
                <span className={css.quiet}>{[row.patient, diseaseOf(text, row)].filter(Boolean).join(" · ")}</span>
              </li>
            ))}
            {refused > plan.reports.length && (
              <li className={css.quiet}>{text("rules.plan.more", { n: refused - plan.reports.length })}</li>
            )}
          </ul>
        </>
      )}
    </div>
  );
}

function RemoveDialog({ entry, onClose }: { entry: RulesEntry; onClose: () => void }) {
  const text = useText();
  const name = labelOf(entry);
  const remove = useCommand("remove_rules", {
    onDone() {
      onClose();
      say({ tone: "done", title: text("rules.removed", { name }) });
    },
  });
  return (
    <Confirm
      title={text("rules.remove.title", { name })}
      confirm={text("rules.remove")}
      tone="danger"
      isPending={remove.isPending}
      problem={remove.error}
      onConfirm={() => remove.mutate({ package: name })}
      onClose={onClose}
      data-testid="rules-remove-confirm"
    >
      {(entry.inUse || entry.outdated) && <Notice tone="caution" title={text("rules.remove.in-use")} />}
      <p>{text("rules.remove.more")}</p>
    </Confirm>
  );
}
