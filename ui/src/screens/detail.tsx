// One report: where it stands, what to do, what was said of it, what is in it, what happened to it.

import { ArrowRight, Ban, Check, FilePen, Hand, Landmark, Play, RotateCw, Undo2, X, XCircle } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";

import type { Action } from "../bridge/generated/Action";
import type { DetailView } from "../bridge/generated/DetailView";
import type { MessageView } from "../bridge/generated/MessageView";
import { useCommand, useDetail } from "../bridge/queries";
import { useCodeText, useFormat, useText } from "../i18n/text";
import type { TextId } from "../i18n/text";
import { useIntake } from "../intake";
import { Button, CopyButton, CopyValue } from "../kit/controls";
import { CorrectDialog } from "../parts/correct-dialog";
import { sayIfItWaits } from "../parts/correction";
import { Deadline } from "../parts/deadline";
import { Destination, useDestinations } from "../parts/destination";
import { ReasonDialog } from "../kit/dialog";
import { isTakenBack } from "../causes";
import { heldAs } from "../parts/held";
import { Doubt } from "../parts/doubt";
import { DraftMark, LosingReason, SendAgain } from "../parts/drafts";
import { Message } from "../parts/message";
import { Notice, ReadProblem } from "../kit/notes";
import { ReportContent } from "../parts/report-content";
import { countOf } from "../parts/said";
import { SourceText, lineOf } from "../parts/source-text";
import { StateBadge } from "../parts/state";
import { diseaseOf, testOf } from "../parts/subject";
import { supportText } from "../parts/support-text";
import { Timeline } from "../parts/timeline";
import { useDecision } from "../parts/decided";
import { say, sayProblem } from "../kit/toasts";
import { Hidden, ShowName, Veiled, useVeil } from "../parts/veil";
import { useWindow } from "../place";
import type { Pointer } from "../place";
import css from "./detail.module.css";

interface Props {
  id: number;
  onClose: () => void;
  onShow: (id: number) => void;
  /** What is shown once this report was corrected; without it, the correction. */
  onCorrected?: (id: number, isKept: boolean) => void;
}

export function Detail({ id, onClose, onShow, onCorrected }: Props) {
  const text = useText();
  const detail = useDetail(id);
  return (
    <article className={css.detail} data-testid="detail" data-takes-focus="" aria-label={text("detail.label")}>
      {detail.error ? (
        <div className={css.fault}>
          <ReadProblem of={detail} actions={<Button onPress={onClose}>{text("action.close")}</Button>} />
        </div>
      ) : (
        detail.data && (
          <Veiled view={detail.data}>
            <Report view={detail.data} onClose={onClose} onShow={onShow} onCorrected={onCorrected ?? onShow} />
          </Veiled>
        )
      )}
    </article>
  );
}

/** What is kept with a report for whoever wants the proof of its check, and calls for nothing. */
const isNote = ({ code }: MessageView) => code === "rules-applied";

type TabId = "content" | "timeline" | "source";
const TABS: TabId[] = ["content", "timeline", "source"];

function Report(props: { view: DetailView; onCorrected: (id: number, isKept: boolean) => void } & Omit<Props, "id">) {
  const { view, onClose, onShow, onCorrected } = props;
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const [tab, setTab] = useState<TabId>("content");
  const [pointer, setPointer] = useState<Pointer>({ section: null, field: null, line: null });
  const show = (message: MessageView) => {
    const { section, field } = message;
    setTab(section === null ? "source" : "content");
    setPointer({ section, field, line: lineOf(view, message) });
  };
  const { row, timeline } = view;
  const messages = view.messages.filter((message) => !isNote(message));
  const held = heldAs(view);
  const withdrawn = row.state === "withdrawn" && timeline.findLast(({ event }) => event === "withdrawn")?.params.reason;
  const veil = useVeil();
  const destination = useDestinations();
  /** The suggestion with which the correction is opened. */
  const [applying, setApplying] = useState<string>();
  const applied = ({ suggestion }: MessageView) =>
    suggestion && view.row.actions.includes("correct") ? () => setApplying(suggestion.expression) : undefined;
  return (
    <>
      <header className={css.header}>
        <div className={css.top}>
          <span className={css.standing}>
            <StateBadge state={row.state} data-testid="detail-state" />
            <Destination of={destination(row)} />
            {row.due && <Deadline due={row.due} />}
            {row.draft && <DraftMark isSpelledOut />}
          </span>
          <Button tone="quiet" icon={X} label={text("action.close")} onPress={onClose} />
        </div>
        <h2 className={`${css.title} selectable`}>{diseaseOf(text, row) ?? veil.hideFile(row.file)}</h2>
        <p className={css.test}>
          {testOf(text, row)}
          {/* The name of the test stands with its result, where there is one. */}
          {row.disease && row.subject !== row.code && view.results.length === 0 && <span>{row.subject}</span>}
          {row.code && <code className="selectable">{text("message.code", { code: row.code })}</code>}
        </p>
        <p className={`${css.patient} selectable`}>
          <strong>{veil.patient ?? text("reports.no-patient")}</strong>
          <ShowName />
          {view.birthDate && !veil.isHidden && (
            <span>{text("detail.born", { date: format.date(view.birthDate) })}</span>
          )}
          {row.laboratory && <span>{row.laboratory}</span>}
        </p>
        <p className={css.meaning} data-testid="meaning">
          {row.state === "held" && held !== "unsent"
            ? text(`held.${held}`)
            : row.takenBack
              ? text(`taken-back.${row.takenBack}`)
              : words("state-meaning", row.state)}
        </p>
        {withdrawn && (
          <p className={`${css.meaning} selectable`} data-testid="withdrawn-why">
            {veil.hide(text("timeline.reason", { reason: withdrawn }))}
          </p>
        )}
        <Doubt view={view} />
        <Links view={view} onShow={onShow} />
        <Actions view={view} onShow={onShow} onCorrected={onCorrected} />
      </header>
      {messages.length > 0 && (
        <section className={css.messages} aria-label={text("detail.messages")}>
          <h3>{countOf(text, messages)}</h3>
          {row.takenBack === "repetition" && (
            <p className={css.meaning} data-testid="earlier-delivery">
              {text("taken-back.messages")}
            </p>
          )}
          <ul>
            {messages.map((message, at) => (
              <Message
                key={at}
                message={message}
                onShow={message.section !== null || message.line !== null ? () => show(message) : undefined}
                onApply={applied(message)}
              />
            ))}
          </ul>
        </section>
      )}
      {applying !== undefined && (
        <CorrectDialog id={row.id} suggestion={applying} onClose={() => setApplying(undefined)} onDone={onCorrected} />
      )}
      <Tabs selectedKey={tab} onSelectionChange={(key) => setTab(key as TabId)} className={css.tabs}>
        <TabList className={css.tabList} aria-label={text("detail.tabs")}>
          {TABS.map((id) => (
            <Tab key={id} id={id} className={css.tab} data-testid={`tab-${id}`}>
              {text(`detail.tab.${id}`)}
            </Tab>
          ))}
        </TabList>
        <TabPanel id="content" className={css.panel}>
          <ReportContent view={view} pointer={pointer} />
        </TabPanel>
        <TabPanel id="timeline" className={css.panel}>
          <Timeline steps={view.timeline} />
          <Identifiers view={view} />
        </TabPanel>
        <TabPanel id="source" className={css.panel}>
          {veil.isHidden ? <Hidden /> : <SourceText view={view} pointer={pointer} />}
        </TabPanel>
      </Tabs>
    </>
  );
}

function Links({ view, onShow }: { view: DetailView; onShow: (id: number) => void }) {
  const text = useText();
  const { corrects, correctedBy } = view.row;
  return (
    <>
      {correctedBy !== null && (
        <Button icon={ArrowRight} onPress={() => onShow(correctedBy)} data-testid="successor">
          {text("detail.replaced-by", { id: correctedBy })}
        </Button>
      )}
      {corrects !== null && (
        <Button tone="quiet" icon={Undo2} onPress={() => onShow(corrects)} data-testid="predecessor">
          {text("detail.replaces", { id: corrects })}
        </Button>
      )}
    </>
  );
}

/** What a person may do: the core says which, the order is that of likelihood. */
const ACTIONS: { code: Action; icon: LucideIcon; word: TextId }[] = [
  { code: "correct", icon: FilePen, word: "action.correct" },
  { code: "resubmit", icon: RotateCw, word: "action.resubmit" },
  { code: "release", icon: Play, word: "action.release" },
  { code: "hold-back", icon: Hand, word: "action.hold-back" },
  { code: "withdraw", icon: XCircle, word: "action.withdraw" },
  { code: "say-received", icon: Check, word: "action.say-received" },
  { code: "say-not-received", icon: RotateCw, word: "action.say-not-received" },
];

/** What is asked for more before it is done. */
type Asked = Exclude<Action, "hold-back"> | "after-all" | "not-reportable";

function Actions(props: {
  view: DetailView;
  onShow: (id: number) => void;
  onCorrected: (id: number, isKept: boolean) => void;
}) {
  const { view, onShow, onCorrected } = props;
  const text = useText();
  const { id } = view.row;
  const [asking, setAsking] = useState<Asked>();
  const close = () => setAsking(undefined);
  const done = (title: TextId) => () => {
    close();
    say({ tone: "done", title: text(title) });
  };
  const intake = useIntake();
  // What is sent by a decision can be taken back where its seconds are counted.
  const resubmit = useCommand("resubmit", {
    onDone(next) {
      intake.followed([next]);
      sayIfItWaits(next, text);
      onShow(next);
    },
  });
  const holdBack = useCommand("hold_back", { onDone: done("done.hold-back") });
  const release = useCommand("release", {
    onDone(waits) {
      if (waits) return done("done.release-waits")();
      close();
      intake.followed([id]);
    },
  });
  const decide = useDecision(close);
  const withdraw = useCommand("withdraw", { onDone: done("done.withdraw") });
  // One in progress is waited for on; one in doubt is settled by that word.
  const isExpected = view.row.state === "in-progress";
  const sayReceived = useCommand("say_received", {
    onDone: done(isExpected ? "done.still-expected" : "done.say-received"),
  });
  const sayNotReceived = useCommand("say_not_received", { onDone: done("done.say-not-received") });
  const onError = sayProblem(text);
  const hasDraft = view.row.draft;
  const losing = { ids: [id], drafts: hasDraft ? [id] : [] };
  const held = heldAs(view);
  // It was to go: it takes no reason to let it.
  const isBack = held === "unsent" && isTakenBack(view.row);
  const sendAfterAll = () =>
    release.mutate({ id, reason: text("send-after-all.reason") }, { onError, onSettled: close });
  const press = (code: Action) => {
    if (code === "resubmit" && !hasDraft) resubmit.mutate({ id }, { onError });
    else if (code === "release" && isBack) return hasDraft ? setAsking("after-all") : sendAfterAll();
    else if (code === "hold-back") holdBack.mutate({ ids: [id] }, { onError });
    else setAsking(code);
  };
  const mayBeThere = view.row.state === "held" && held !== "unsent" && held !== "failed";
  const isPlain = view.row.errors + view.row.warnings === 0;
  const releasing = held === "unsent" ? (isPlain ? "release.back" : "release") : (`release.${held}` as const);
  const send =
    isBack || releasing === "release.back" ? text("action.send-after-all", { n: 1 }) : text("action.release");
  const offered = ACTIONS.filter(({ code }) => view.row.actions.includes(code));
  if (offered.length === 0) return null;
  return (
    <div className={css.actions} role="group" aria-label={text("detail.actions")}>
      {offered.map(({ code, icon, word }, at) => (
        <Button
          key={code}
          icon={icon}
          tone={at === 0 ? "primary" : code === "withdraw" ? "quiet" : "plain"}
          isPending={resubmit.isPending || holdBack.isPending || (isBack && release.isPending)}
          onPress={() => press(code)}
          data-testid={`action-${code}`}
        >
          {code === "release" ? send : text(code === "correct" && hasDraft ? "action.correct.draft" : word)}
        </Button>
      ))}
      {view.row.actions.includes("withdraw") && !mayBeThere && (
        <Button tone="quiet" icon={Ban} onPress={() => setAsking("not-reportable")} data-testid="action-not-reportable">
          {text("action.not-reportable")}
        </Button>
      )}
      {asking === "correct" && <CorrectDialog id={id} onClose={close} onDone={onCorrected} />}
      {asking === "resubmit" && (
        <SendAgain
          about={losing}
          isPending={resubmit.isPending}
          onSend={() => resubmit.mutate({ id }, { onError, onSettled: close })}
          onClose={close}
        />
      )}
      {asking === "after-all" && (
        <SendAgain about={losing} isAfterAll isPending={release.isPending} onSend={sendAfterAll} onClose={close} />
      )}
      {asking === "release" && (
        <LosingReason
          about={losing}
          title={() => text(`${releasing}.title`)}
          explanation={() => text(`${releasing}.more`)}
          confirm={() => send}
          isPending={release.isPending}
          onConfirm={(_, reason) => release.mutate({ id, reason }, { onError })}
          onClose={close}
        />
      )}
      {asking === "say-received" && (
        <LosingReason
          about={losing}
          title={() => text("say-received.title")}
          explanation={() => text(isExpected ? "still-expected.more" : "say-received.more")}
          confirm={() => text("action.say-received")}
          isPending={sayReceived.isPending}
          onConfirm={(_, reason) => sayReceived.mutate({ id, reason }, { onError })}
          onClose={close}
        />
      )}
      {asking === "say-not-received" && (
        <ReasonDialog
          title={text("say-not-received.title")}
          explanation={text("say-not-received.more")}
          confirm={text("action.say-not-received")}
          isPending={sayNotReceived.isPending}
          onConfirm={(reason) => sayNotReceived.mutate({ id, reason }, { onError })}
          onClose={close}
        />
      )}
      {asking === "not-reportable" && (
        <LosingReason
          about={losing}
          title={() => text("bulk.not-reportable.title", { n: 1 })}
          explanation={() => text("bulk.not-reportable.more", { n: 1 })}
          confirm={() => text("action.not-reportable")}
          beside={<OtherVersions ids={view.waitingVersions} onShow={onShow} />}
          isPending={decide.isPending}
          onConfirm={(_, reason) =>
            decide.mutate(
              { ids: [id], decision: "not-reportable", reason: text("bulk.not-reportable.reason", { reason }) },
              { onError },
            )
          }
          onClose={close}
        />
      )}
      {asking === "withdraw" && (
        <LosingReason
          about={losing}
          title={() => text(mayBeThere ? "withdraw.again.title" : "withdraw.title")}
          explanation={() => text(mayBeThere ? "withdraw.again.more" : "withdraw.more")}
          confirm={() => text("action.withdraw")}
          beside={<OtherVersions ids={view.waitingVersions} onShow={onShow} />}
          isPending={withdraw.isPending}
          onConfirm={(_, reason) => withdraw.mutate({ id, reason }, { onError })}
          onClose={close}
        />
      )}
    </div>
  );
}

/** Whoever leaves a report unsent is told of its other versions: they go on. */
function OtherVersions({ ids, onShow }: { ids: number[]; onShow: (id: number) => void }) {
  const text = useText();
  const n = ids.length;
  const newest = ids.at(-1);
  if (newest === undefined) return null;
  const show = <Button onPress={() => onShow(newest)}>{text("versions.show", { n })}</Button>;
  return (
    <Notice tone="caution" title={text("versions.waiting", { n })} actions={show} data-testid="other-versions">
      {text("versions.waiting.more", { n })}
    </Notice>
  );
}

function Identifiers({ view }: { view: DetailView }) {
  const text = useText();
  const { go } = useWindow();
  const format = useFormat();
  const veil = useVeil();
  const values: [TextId, string | null][] = [
    ["detail.receipt", view.receipt],
    ["detail.identifier", view.identifier],
    ["detail.document-identifier", view.row.documentIdentifier],
    ["detail.digest", view.digest],
    ["detail.rules", view.messages.find(isNote)?.params.package ?? null],
  ];
  const { identifier } = view;
  return (
    <section className={css.identifiers}>
      <h3>{text("detail.identifiers")}</h3>
      <div className={css.actions}>
        <CopyButton
          label={text("support-copy.label")}
          value={() => supportText(text, view)}
          data-testid="copy-for-support"
        />
        {identifier && (
          <Button
            icon={Landmark}
            onPress={() => go({ screen: "ask", about: { report: view.row.id, identifier } })}
            data-testid="ask-this"
          >
            {text("ask.this")}
          </Button>
        )}
      </div>
      <dl>
        {values.map(
          ([name, value]) =>
            value && (
              <div key={name}>
                <dt>{text(name)}</dt>
                <dd>
                  <CopyValue name={text(name)} value={value} />
                </dd>
              </div>
            ),
        )}
        <div>
          <dt>{text("detail.file")}</dt>
          <dd className="selectable">
            {text("detail.file.facts", {
              file: veil.hideFile(view.row.file),
              format: view.format.toUpperCase(),
              size: format.bytes(view.size),
            })}
          </dd>
        </div>
        <div>
          <dt>{text("detail.attempts")}</dt>
          <dd>{format.number(view.attempts)}</dd>
        </div>
      </dl>
    </section>
  );
}
