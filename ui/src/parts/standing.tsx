// What holds the whole queue, above every screen: why, that nothing is lost, and what to do.

import { Check, Pause, Play, Plus, RefreshCw, Search } from "lucide-react";
import type { ReactNode } from "react";

import type { ElsewhereView } from "../bridge/generated/ElsewhereView";
import type { Problem } from "../bridge/generated/Problem";
import type { StatusView } from "../bridge/generated/StatusView";
import { useCommand } from "../bridge/queries";
import { useText } from "../i18n/text";
import { HOME, useWindow } from "../place";
import type { Screen } from "../place";
import { Button } from "../kit/controls";
import { Notice, ProblemNote } from "../kit/notes";
import css from "./standing.module.css";
import { say, sayProblem } from "../kit/toasts";
import { VaultSealed } from "./vault";

/** What holds the queue goes on by itself; where it can be tried now, that is a button among `actions`. */
function Holding({ problem, actions }: { problem: Problem; actions?: ReactNode }) {
  const text = useText();
  const remedy = problem.remedy === "retry" ? text("standing.by-itself") : undefined;
  return <ProblemNote problem={problem} actions={actions} remedy={remedy} />;
}

/** Lets the next try begin now, and says what came of it: the notice looks the same after one in vain. */
function TryNow({ endpoint }: { endpoint: string }) {
  const text = useText();
  const command = useCommand("try_now", {
    onDone: (connected) => {
      const title = text(connected ? "standing.tried.connected" : "standing.tried.in-vain");
      say(connected ? { tone: "done", title } : { tone: "attention", title, more: text("standing.by-itself") });
    },
  });
  const onPress = () => command.mutate({ endpoint }, { onError: sayProblem(text) });
  return (
    <Button icon={RefreshCw} isPending={command.isPending} onPress={onPress} data-testid="try-now">
      {text("standing.try-now")}
    </Button>
  );
}

/** Screens on which stands what is wrong with files of the watched folder; all of them are named in the settings. */
const ABOUT_FILES = new Set<Screen>(["send", "overview"]);
const FILES_REFUSED = "watched-files-refused";

/** Why the reports of another endpoint than the one in use do not move. */
export function Elsewhere({ waiting, actions }: { waiting: ElsewhereView; actions?: ReactNode }) {
  const text = useText();
  const { count, endpoint, problem } = waiting;
  if (!problem) return null;
  return (
    <>
      <Holding problem={problem} actions={actions} />
      <p className={css.safe}>{text("standing.elsewhere", { n: count, endpoint })}</p>
    </>
  );
}

/** To the screen on which that is mended because of which nothing is sent, unless it is open. */
function Way({ code }: { code: string }) {
  const text = useText();
  const { go, place } = useWindow();
  if (code === "no-endpoint") {
    if (place.screen === "settings") return null;
    return (
      <Button icon={Plus} onPress={() => go({ screen: "settings", adds: true })} data-testid="standing-add-endpoint">
        {text("endpoint.add")}
      </Button>
    );
  }
  if (place.screen === "certificate") return null;
  return <Button onPress={() => go(HOME.certificate)}>{text("nav.certificate")}</Button>;
}

export function Standing({ status }: { status: StatusView }) {
  const text = useText();
  const { go, place } = useWindow();
  const resume = useCommand("set_paused");
  const { byState, inProgress } = status.counts;
  const waiting = byState["queued"] ?? 0;
  const held = status.connection === "locked" || status.connection === "unreachable";
  const read = useCommand("acknowledge_notice");
  const sealed = status.problem?.code === "passphrase-needed";
  const { laboratory } = status;
  const calls = laboratory !== null && (laboratory.needsAttention > 0 || laboratory.notices > 0 || laboratory.paused);
  const notices = status.notices.filter(
    ({ problem: { code } }) => code !== FILES_REFUSED || ABOUT_FILES.has(place.screen),
  );
  const quiet =
    !calls &&
    !sealed &&
    !status.paused &&
    !status.problem &&
    notices.length === 0 &&
    !status.elsewhere.some(({ problem }) => problem);
  if (quiet) return null;
  return (
    <div className={css.standing}>
      {notices.map(({ problem, at }) => (
        <ProblemNote
          key={`${problem.code} ${problem.params.endpoint ?? ""}`}
          problem={problem}
          actions={
            <>
              {problem.code === FILES_REFUSED && (
                <Button
                  icon={Search}
                  onPress={() => go({ screen: "settings", files: true })}
                  data-testid="show-refused"
                >
                  {text("watch.refused.show")}
                </Button>
              )}
              <Button
                icon={Check}
                isPending={read.isPending}
                onPress={() => read.mutate({ code: problem.code, at }, { onError: sayProblem(text) })}
              >
                {text("standing.read")}
              </Button>
            </>
          }
        />
      ))}
      {calls && (
        <Notice
          tone="attention"
          title={text("standing.laboratory")}
          actions={
            place.screen !== "settings" && (
              <Button onPress={() => go(HOME.settings)}>{text("standing.endpoints")}</Button>
            )
          }
        >
          {[
            laboratory.needsAttention > 0 && text("standing.laboratory.attention", { n: laboratory.needsAttention }),
            laboratory.notices > 0 && text("standing.laboratory.notices", { n: laboratory.notices }),
            laboratory.paused && text("standing.laboratory.paused"),
          ]
            .filter(Boolean)
            .join(" ")}
        </Notice>
      )}
      {sealed && <VaultSealed />}
      {status.problem && !held && !sealed && <Holding problem={status.problem} />}
      {held && status.problem && !sealed && (
        <>
          <Holding
            problem={status.problem}
            actions={
              <>
                {status.triesAgain && <TryNow endpoint={status.endpoint} />}
                {status.connection === "locked" && <Way code={status.problem.code} />}
              </>
            }
          />
          {inProgress > 0 && <p className={css.safe}>{text("standing.safe", { n: inProgress })}</p>}
        </>
      )}
      {status.elsewhere.map((waiting) => (
        <Elsewhere
          key={waiting.endpoint}
          waiting={waiting}
          actions={
            <>
              {waiting.triesAgain && <TryNow endpoint={waiting.endpoint} />}
              {place.screen !== "settings" && (
                <Button onPress={() => go(HOME.settings)}>{text("standing.endpoints")}</Button>
              )}
            </>
          }
        />
      ))}
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
