// What holds the whole queue, above every screen: why, that nothing is lost, and what to do.

import { Check, Pause, Play } from "lucide-react";

import type { StatusView } from "../bridge/generated/StatusView";
import { useCommand } from "../bridge/queries";
import { useText } from "../i18n/text";
import { HOME, useWindow } from "../place";
import { Button } from "./controls";
import { Notice, ProblemNote } from "./notes";
import css from "./standing.module.css";
import { sayProblem } from "./toasts";

export function Standing({ status }: { status: StatusView }) {
  const text = useText();
  const { go, place } = useWindow();
  const resume = useCommand("set_paused", { stale: ["status"] });
  const { byState, inProgress } = status.counts;
  const waiting = byState["queued"] ?? 0;
  const held = status.connection === "locked" || status.connection === "unreachable";
  const read = useCommand("acknowledge_notice", { stale: ["status"] });
  if (!status.paused && !(held && status.problem) && status.notices.length === 0) return null;
  return (
    <div className={css.standing}>
      {status.notices.map(({ problem }) => (
        <ProblemNote
          key={problem.code}
          problem={problem}
          actions={
            <Button
              icon={Check}
              isPending={read.isPending}
              onPress={() => read.mutate({ code: problem.code }, { onError: sayProblem(text) })}
            >
              {text("standing.read")}
            </Button>
          }
        />
      ))}
      {held && status.problem && (
        <>
          <ProblemNote
            problem={status.problem}
            actions={
              status.connection === "locked" &&
              place.screen !== "certificate" && (
                <Button onPress={() => go(HOME.certificate)}>{text("nav.certificate")}</Button>
              )
            }
          />
          {inProgress > 0 && <p className={css.safe}>{text("standing.safe", { n: inProgress })}</p>}
        </>
      )}
      {status.paused && (
        <Notice
          tone="caution"
          icon={Pause}
          title={text("rail.paused")}
          actions={
            <Button
              icon={Play}
              isPending={resume.isPending}
              onPress={() => resume.mutate({ paused: false }, { onError: sayProblem(text) })}
            >
              {text("standing.resume")}
            </Button>
          }
        >
          {text("standing.waiting", { n: waiting })}
        </Notice>
      )}
    </div>
  );
}
