// Ask the authority: what it has, as it says itself, beside what stands here. What was sent with the same certificate from
// elsewhere is shown as such.

import { ArrowRight, ChevronDown, RefreshCw, Search, SearchX, Send as Sent } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { door } from "#door";

import { problemOf } from "../bridge/door";
import type { AskQuery } from "../bridge/generated/AskQuery";
import type { AskedView } from "../bridge/generated/AskedView";
import type { HitView } from "../bridge/generated/HitView";
import type { Problem } from "../bridge/generated/Problem";
import { useStatus } from "../bridge/queries";
import { useFormat, useText } from "../i18n/text";
import type { TextId } from "../i18n/text";
import { Button, CopyValue, Select, TextField } from "../kit/controls";
import { DateField } from "../kit/date-field";
import { Message } from "../parts/message";
import { Empty, Notice, ProblemNote } from "../kit/notes";
import screen from "../kit/screen.module.css";
import { StateBadge, StateLabel } from "../parts/state";
import { Subject } from "../parts/subject";
import { useOtherRoom, useWindow } from "../place";
import css from "./ask.module.css";

const ALL: AskQuery = { identifier: null, status: null, from: null, until: null, report: null };
const STATUSES = ["in-progress", "completed", "failed"] as const;

/** How a question stands. */
type Answer =
  | { phase: "asking" }
  | { phase: "shown"; views: AskedView[]; at: string }
  | { phase: "failed"; problem: Problem };

/** A report of ours that is asked about, at the authority that it went to. */
export interface About {
  report: number;
  identifier: string;
}

/** `about`: asked at once. `authority`: which one answers else. */
export function Ask({ about, authority }: { about: About | undefined; authority: string | undefined }) {
  const text = useText();
  const first = { ...ALL, ...about };
  const [query, setQuery] = useState<AskQuery>(first);
  const { answer, asked, ask, askFurther, isAsking } = useQuestion(first);
  const set = (change: Partial<AskQuery>) => setQuery((known) => ({ ...known, ...change }));
  // Another authority answers by itself what was asked last, but for a number: that was the first one's. The form stays as it
  // is under the hand of whoever fills it in, and a report was sent where it was sent.
  useOtherRoom(authority, () => {
    if (asked.report !== null) return;
    setQuery((known) => (known.identifier === asked.identifier ? { ...known, identifier: null } : known));
    ask({ ...asked, identifier: null });
  });
  const askFor = (wanted: AskQuery) => {
    setQuery(wanted);
    ask(wanted);
  };
  return (
    <>
      <header className={screen.header}>
        <div>
          <h1>{text("nav.ask")}</h1>
          <p className={screen.lead}>{text("ask.lead")}</p>
        </div>
      </header>
      <div className={screen.body}>
        <form
          className={css.form}
          aria-label={text("nav.ask")}
          onSubmit={(event) => {
            event.preventDefault();
            ask(query);
          }}
        >
          <div className={css.wide}>
            <TextField
              label={text("ask.identifier")}
              value={query.identifier ?? ""}
              onChange={(typed) => set({ identifier: typed || null, report: null })}
              data-testid="ask-identifier"
            />
          </div>
          <Select
            label={text("ask.status")}
            value={query.status ?? "any"}
            choices={[
              { id: "any", name: text("ask.status.any") },
              ...STATUSES.map((id) => ({ id, name: text.code(`state.${id}`) ?? id })),
            ]}
            onChange={(id) => set({ status: id === "any" ? null : id })}
            data-testid="ask-status"
          />
          <DateField
            label={text("ask.from")}
            value={query.from ?? ""}
            onChange={(day) => set({ from: day || null })}
            data-testid="ask-from"
          />
          <DateField
            label={text("ask.until")}
            value={query.until ?? ""}
            onChange={(day) => set({ until: day || null })}
            data-testid="ask-until"
          />
          <div className={css.press}>
            <Button type="submit" tone="primary" icon={Search} data-testid="ask">
              {text("ask.ask")}
            </Button>
            {isNarrowed(query) && (
              <Button tone="quiet" onPress={() => askFor(ALL)} data-testid="ask-clear">
                {text("ask.clear")}
              </Button>
            )}
          </div>
        </form>
        {answer.phase === "asking" && (
          <p role="status" className={css.asking}>
            {text("ask.asking")}
          </p>
        )}
        {answer.phase === "failed" && <Refused problem={answer.problem} asked={asked} ask={askFor} />}
        {answer.phase === "shown" && (
          <Shown
            views={answer.views}
            at={answer.at}
            asked={asked}
            ask={askFor}
            askFurther={askFurther}
            isAsking={isAsking}
          />
        )}
      </div>
    </>
  );
}

const isNarrowed = (query: AskQuery) => Object.values(query).some((value) => value !== null);

/** Asks at once, and whenever that is asked for; an answer that was overtaken is not shown. */
function useQuestion(first: AskQuery) {
  const { reveal } = useWindow();
  const [asked, setAsked] = useState(first);
  const [answer, setAnswer] = useState<Answer>({ phase: "asking" });
  const [isAsking, setAsking] = useState(false);
  const turn = useRef(0);
  const put = (query: AskQuery) => {
    turn.current += 1;
    const mine = turn.current;
    const isCurrent = () => mine === turn.current;
    door
      .here()
      .call("ask_authority", { query, reveal })
      .then(
        (view) => isCurrent() && setAnswer({ phase: "shown", views: [view], at: new Date().toISOString() }),
        (thrown) => isCurrent() && setAnswer({ phase: "failed", problem: problemOf(thrown) }),
      );
  };
  const ask = (query: AskQuery) => {
    setAsked(query);
    setAnswer({ phase: "asking" });
    put(query);
  };
  useEffect(() => {
    put(asked);
    return () => {
      turn.current += 1;
    };
    // Names are shown or masked by the core; what was asked before is asked again by `ask`.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [reveal]);
  const askFurther = (number: number) => {
    const mine = turn.current;
    setAsking(true);
    door
      .here()
      .call("ask_further", { number })
      .then(
        (view) =>
          mine === turn.current &&
          setAnswer((known) => (known.phase === "shown" ? { ...known, views: [...known.views, view] } : known)),
        (thrown) => mine === turn.current && setAnswer({ phase: "failed", problem: problemOf(thrown) }),
      )
      .finally(() => setAsking(false));
  };
  return { answer, asked, ask, askFurther, isAsking };
}

/** What of a question a parameter of the interface stands for. */
const PARTS: Record<string, { words: TextId; without: Partial<AskQuery> }> = {
  identifier: { words: "ask.identifier", without: { identifier: null, report: null } },
  _id: { words: "ask.identifier", without: { identifier: null, report: null } },
  "elm-status": { words: "ask.status", without: { status: null } },
  date: { words: "ask.period", without: { from: null, until: null } },
};

/** No answer: what the authority does not take is said by its name here, and can be left out. */
function Refused({ problem, asked, ask }: { problem: Problem; asked: AskQuery; ask: (query: AskQuery) => void }) {
  const text = useText();
  const isPart = problem.code === "parameter-ignored" || problem.code === "search-not-offered";
  const part = isPart ? PARTS[problem.params.name ?? ""] : undefined;
  const again = (
    <Button icon={RefreshCw} onPress={() => ask(asked)} data-testid="ask-again">
      {text("ask.again")}
    </Button>
  );
  if (!part) return <ProblemNote problem={problem} actions={again} />;
  const what = text(part.words);
  return (
    <div data-testid="ask-not-taken">
      <Notice
        tone="caution"
        role="alert"
        title={text("ask.not-taken", { what })}
        actions={
          <Button icon={RefreshCw} onPress={() => ask({ ...asked, ...part.without })} data-testid="ask-without">
            {text("ask.without", { what })}
          </Button>
        }
      >
        {text("ask.not-taken.more")}
      </Notice>
    </div>
  );
}

function Shown(props: {
  views: AskedView[];
  at: string;
  asked: AskQuery;
  ask: (query: AskQuery) => void;
  askFurther: (number: number) => void;
  isAsking: boolean;
}) {
  const { views, at, asked, ask, askFurther, isAsking } = props;
  const text = useText();
  const format = useFormat();
  const hits = views.flatMap((view) => view.hits);
  const messages = views.flatMap((view) => view.messages);
  const unreadable = views.reduce((n, view) => n + view.unreadable, 0);
  const elsewhere = hits.filter((hit) => hit.row === null).length;
  const further = views.at(-1)?.further ?? null;
  const total = views[0]?.total ?? null;
  const practice = useStatus().data?.environment === "practice";
  const endpoint = practice ? text("environment.practice") : (views[0]?.endpoint ?? "");
  const who = text("ask.asked", { endpoint, time: format.moment(at) });
  return (
    <>
      {messages.length > 0 && (
        <ul className={css.messages}>
          {messages.map((message, index) => (
            <Message key={index} message={message} compact />
          ))}
        </ul>
      )}
      {unreadable > 0 && <Notice tone="caution" title={text("ask.unreadable", { n: unreadable })} />}
      {hits.length === 0 ? (
        <Empty
          icon={SearchX}
          title={text(isNarrowed(asked) ? "ask.none" : "ask.none.all")}
          actions={
            isNarrowed(asked) && (
              <Button onPress={() => ask(ALL)} data-testid="ask-all">
                {text("ask.clear")}
              </Button>
            )
          }
        >
          {text("ask.none.more")} {who}
        </Empty>
      ) : (
        <>
          <p role="status" className={css.sum} data-testid="ask-sum">
            {total === null ? text("ask.sum.shown", { n: hits.length }) : text("ask.sum", { n: hits.length, total })}{" "}
            {elsewhere > 0 && text("ask.elsewhere.count", { n: elsewhere })} {who}
          </p>
          <ul className={css.hits} aria-label={text("ask.list")}>
            {hits.map((hit, index) => (
              <Hit key={`${hit.id} ${index}`} hit={hit} />
            ))}
          </ul>
        </>
      )}
      {further !== null && (
        <div>
          <Button icon={ChevronDown} isPending={isAsking} onPress={() => askFurther(further)} data-testid="ask-further">
            {text("ask.further")}
          </Button>
        </div>
      )}
    </>
  );
}

function Hit({ hit }: { hit: HitView }) {
  const text = useText();
  const format = useFormat();
  const { go } = useWindow();
  const { row } = hit;
  const when = hit.lastUpdated ?? hit.date;
  return (
    <li className={css.hit} data-testid="hit" data-elsewhere={row === null}>
      <div className={css.standing}>
        {hit.status && <StateBadge state={hit.status} data-testid="hit-state" />}
        {when && <time dateTime={when}>{format.moment(when)}</time>}
      </div>
      <div className={css.what}>
        {row ? (
          <>
            <Subject about={row} otherwise={row.file} />
            <p className={css.who}>{[row.patient, row.laboratory].filter(Boolean).join(" · ")}</p>
            {row.state !== hit.status && (
              <p className={css.here}>
                {text("ask.here")} <StateLabel state={row.state} size={15} />
              </p>
            )}
          </>
        ) : (
          <>
            <strong className={css.elsewhere}>
              <Sent aria-hidden size={15} />
              {text("ask.elsewhere")}
            </strong>
            <p className={css.who}>{text("ask.elsewhere.more")}</p>
          </>
        )}
        <dl className={css.numbers}>
          {hit.id && (
            <div>
              <dt>{text("ask.number")}</dt>
              <dd>
                <CopyValue name={text("ask.number")} value={hit.id} />
              </dd>
            </div>
          )}
          {hit.identifiers.map((identifier) => (
            <div key={identifier}>
              <dt>{text("ask.id")}</dt>
              <dd>
                <CopyValue name={text("ask.id")} value={identifier} />
              </dd>
            </div>
          ))}
        </dl>
        {hit.messages.length > 0 && (
          <ul className={css.messages}>
            {hit.messages.map((message, index) => (
              <Message key={index} message={message} compact />
            ))}
          </ul>
        )}
      </div>
      {row && (
        <Button
          tone="quiet"
          icon={ArrowRight}
          onPress={() => go({ screen: "reports", group: null, open: row.id })}
          data-testid="hit-open"
        >
          {text("ask.open")}
        </Button>
      )}
    </li>
  );
}
