// The left rail: where one can go, and at the bottom what the window is connected to.

import { BadgeCheck, ChartColumn, Files, Landmark, ListChecks, Send, Settings } from "lucide-react";
import {
  CircleCheck,
  CircleDashed,
  CircleQuestionMark,
  CloudOff,
  Eye,
  EyeOff,
  Lock,
  LockKeyhole,
  PauseCircle,
} from "lucide-react";
import type { LucideIcon } from "lucide-react";

import type { Connection as Link } from "../bridge/generated/Connection";
import type { StatusView } from "../bridge/generated/StatusView";
import { useSavePreferences } from "../bridge/preferences";
import { LANGUAGES, useCodeText, useFormat, useText, useWords } from "../i18n/text";
import type { TextId } from "../i18n/text";
import { HOME, useWindow } from "../place";
import type { Screen } from "../place";
import { Button, Select } from "../kit/controls";
import { closedOf } from "./closed";
import css from "./rail.module.css";
import { UpdateLine } from "./updates";

const ENTRIES: { screen: Screen; icon: LucideIcon; word: TextId }[] = [
  { screen: "send", icon: Send, word: "nav.send" },
  { screen: "reports", icon: Files, word: "nav.reports" },
  { screen: "correct", icon: ListChecks, word: "nav.correct" },
  { screen: "overview", icon: ChartColumn, word: "nav.overview" },
  { screen: "ask", icon: Landmark, word: "nav.ask" },
  { screen: "certificate", icon: BadgeCheck, word: "nav.certificate" },
  { screen: "settings", icon: Settings, word: "nav.settings" },
];

/** Below this many days the certificate asks for attention (the last notice of the calendar but two). */
const DAYS_URGENT = 30;
/** The largest number that has room along the bottom of a narrow window. */
const MOST_SHOWN = 99;

export function Rail({
  status,
  showHelp,
  lock,
}: {
  status: StatusView | undefined;
  showHelp: () => void;
  lock: () => void;
}) {
  const text = useText();
  const { place, go } = useWindow();
  const attention = status?.counts.needsAttention ?? 0;
  // The certificate of practice renews itself: the days that count are those of the laboratory's own.
  const own = status?.environment === "practice" ? status.waitingCertificate : status?.certificate;
  const { daysLeft: days, daysAhead = 0 } = own ?? {};
  const validity = (left: number) => {
    if (daysAhead > 0) return text("nav.certificate.ahead");
    return left < 0 ? text("nav.certificate.expired") : text("nav.certificate.days", { n: left });
  };
  return (
    <nav className={css.rail} aria-label={text("nav.label")}>
      <ul className={css.entries}>
        {ENTRIES.map(({ screen, icon: Icon, word }) => (
          <li key={screen}>
            <button
              type="button"
              className={css.entry}
              aria-current={place.screen === screen ? "page" : undefined}
              onClick={() => go(HOME[screen])}
              data-testid={`nav-${screen}`}
            >
              <Icon aria-hidden size={18} strokeWidth={1.9} />
              <span className={css.word}>{text(word)}</span>
              {screen === "correct" && attention > 0 && (
                <span className={css.badge}>
                  <span aria-hidden data-short={attention > MOST_SHOWN ? `${MOST_SHOWN}+` : undefined}>
                    {attention}
                  </span>
                  <span className="visually-hidden">{text("nav.correct.badge", { n: attention })}</span>
                </span>
              )}
              {screen === "certificate" && days !== undefined && (
                <span className={`${css.days} ${days < DAYS_URGENT || daysAhead > 0 ? css.urgent : ""}`}>
                  {validity(days)}
                </span>
              )}
            </button>
          </li>
        ))}
      </ul>
      <div className={css.foot}>
        <UpdateLine />
        {status && <Connection status={status} />}
        <div className={css.tools}>
          <LanguageChoice quiet />
          <div className={css.icons}>
            <RevealNames />
            <Button tone="quiet" icon={Lock} label={text("lock.now")} onPress={lock} data-testid="lock" />
            <Button
              tone="quiet"
              icon={CircleQuestionMark}
              label={text("help.title")}
              onPress={showHelp}
              data-testid="help"
            />
          </div>
        </div>
      </div>
    </nav>
  );
}

/** One switch for the names in all lists. */
function RevealNames() {
  const text = useText();
  const { reveal, setReveal } = useWindow();
  return (
    <Button
      tone="quiet"
      icon={reveal ? EyeOff : Eye}
      label={text(reveal ? "reports.hide-names" : "reports.show-names")}
      onPress={() => setReveal(!reveal)}
      data-testid="reveal-names"
    />
  );
}

const CONNECTION: Record<Link, { icon: LucideIcon; look: string }> = {
  unchecked: { icon: CircleDashed, look: "open" },
  connected: { icon: CircleCheck, look: "good" },
  unreachable: { icon: CloudOff, look: "bad" },
  locked: { icon: LockKeyhole, look: "bad" },
};

function Connection({ status }: { status: StatusView }) {
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const { icon: Icon, look } = CONNECTION[status.connection];
  const closed = closedOf(status);
  const hasAuthority = status.endpoint !== "";
  if (closed) {
    return (
      <dl className={css.connection}>
        <dt className="visually-hidden">{text("rail.environment")}</dt>
        <dd className={css.environment}>
          <strong>{text(`closed.${closed}`)}</strong>
        </dd>
        <dt className="visually-hidden">{text("rail.connection")}</dt>
        <dd className={`${css.line} ${css.bad}`}>
          <LockKeyhole aria-hidden size={15} />
          {text("closed.nothing-sent")}
        </dd>
      </dl>
    );
  }
  return (
    <dl className={css.connection}>
      <dt className="visually-hidden">{text("rail.environment")}</dt>
      <dd className={css.environment}>
        <strong>{hasAuthority ? words("environment", status.environment) : text("rail.no-endpoint")}</strong>
        {status.environment !== "practice" && <span title={status.baseUrl}>{status.endpoint}</span>}
      </dd>
      <dt className="visually-hidden">{text("rail.connection")}</dt>
      {/* Nobody was asked yet: access cannot have been refused. */}
      <dd className={`${css.line} ${css[look]}`}>
        <Icon aria-hidden size={15} />
        {!hasAuthority
          ? text("closed.nothing-sent")
          : status.connection === "locked" && !status.certificate
            ? text("rail.no-certificate")
            : words("connection", status.connection)}
      </dd>
      {status.paused && (
        <dd className={`${css.line} ${css.bad}`}>
          <PauseCircle aria-hidden size={15} />
          {text("rail.paused")}
        </dd>
      )}
      {status.workedElsewhere && <dd className={css.check}>{text("rail.elsewhere")}</dd>}
      {status.elsewhere.map(({ endpoint, count, connection }) => (
        <dd key={endpoint} className={css.check} title={endpoint}>
          {text("rail.other", { endpoint, n: count, state: words("connection", connection) })}
        </dd>
      ))}
      {status.lastContact && (
        <dd className={css.check}>{text("rail.last-check", { time: format.moment(status.lastContact) })}</dd>
      )}
    </dl>
  );
}

export function LanguageChoice({ quiet }: { quiet?: boolean }) {
  const { language, text } = useWords();
  const save = useSavePreferences();
  return (
    <Select
      label={text("settings.language")}
      hideLabel
      quiet={quiet}
      value={language}
      choices={LANGUAGES.map(({ code, name }) => ({ id: code, name }))}
      onChange={(code) => save({ language: code })}
    />
  );
}
