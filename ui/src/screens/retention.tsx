// For how long the laboratory's journal keeps the content of finished reports. A person is told how many reports a shorter
// time concerns before it is kept to: nothing brings them back.

import { useState } from "react";

import type { SafekeepingView } from "../bridge/generated/SafekeepingView";
import { useCommand, useRetentionPlan } from "../bridge/queries";
import { useFormat, useText } from "../i18n/text";
import { Select } from "../kit/controls";
import { Confirm } from "../kit/dialog";
import { ReadProblem } from "../kit/notes";
import { say, sayProblem } from "../kit/toasts";
import css from "./settings.module.css";

/** Offered; the command line takes any number. */
const DAYS = ["30", "90", "180", "365", "730", "1825", "3650"];
const FOREVER = "0";

export function Retention({ kept }: { kept: SafekeepingView }) {
  const text = useText();
  const [asking, setAsking] = useState<number>();
  const days = kept.retentionDays ?? 0;
  const forever = useCommand("set_retention", {
    onDone: () => say({ tone: "done", title: text("retention.off") }),
  });
  const choose = (id: string) => {
    if (id === String(days)) return;
    if (id === FOREVER) forever.mutate({ days: null }, { onError: sayProblem(text) });
    else setAsking(Number(id));
  };
  const ids = [...new Set([...DAYS, String(days)])].filter((id) => id !== FOREVER);
  const choices = ids.sort((a, b) => Number(a) - Number(b));
  return (
    <div className={css.setting}>
      <span className={css.words}>
        <span>{text("retention.title")}</span>
        <span data-testid="retention-kept">{text("retention.kept", { n: days })}</span>
      </span>
      <Select
        label={text("retention.title")}
        hideLabel
        value={String(days)}
        choices={[FOREVER, ...choices].map((id) => ({ id, name: text("retention.days", { n: Number(id) }) }))}
        onChange={choose}
        data-testid="retention-days"
      />
      {asking !== undefined && (
        <RetentionDialog days={asking} aside={kept.setAside.length} onClose={() => setAsking(undefined)} />
      )}
    </div>
  );
}

function RetentionDialog({ days, aside, onClose }: { days: number; aside: number; onClose: () => void }) {
  const text = useText();
  const format = useFormat();
  const plan = useRetentionPlan(days);
  const set = useCommand("set_retention", {
    onDone(n) {
      onClose();
      say({ tone: "done", title: text("retention.done", { n }) });
    },
  });
  return (
    <Confirm
      title={text("retention.ask", { n: days })}
      confirm={text("retention.confirm")}
      tone="danger"
      isDisabled={!plan.data}
      isPending={set.isPending}
      problem={set.error}
      onConfirm={() => set.mutate({ days })}
      onClose={onClose}
      data-testid="retention-confirm"
    >
      <ReadProblem of={plan} />
      <p role="status" data-testid="retention-plan">
        {plan.data
          ? text("retention.plan", { n: plan.data.reports, date: format.date(plan.data.before) })
          : plan.isPending && text("retention.counting")}
      </p>
      <p>{text("retention.what")}</p>
      <p>{text("retention.for-good")}</p>
      <p>{text("retention.elsewhere", { n: aside })}</p>
    </Confirm>
  );
}
