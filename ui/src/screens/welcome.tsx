// First run: language, then practice at once. Every step can be skipped.

import { ArrowRight, BadgeCheck, FlaskConical, Send } from "lucide-react";
import type { LucideIcon } from "lucide-react";

import { door } from "#door";

import type { StatusView } from "../bridge/generated/StatusView";
import { useSavePreferences } from "../bridge/preferences";
import { useText } from "../i18n/text";
import { useIntake } from "../intake";
import { Button } from "../kit/controls";
import { LanguageChoice } from "../parts/rail";
import { sayProblem } from "../kit/toasts";
import { HOME, useWindow } from "../place";
import type { Place } from "../place";
import css from "./welcome.module.css";

export function Welcome({ status }: { status: StatusView }) {
  const text = useText();
  const intake = useIntake();
  const { go } = useWindow();
  const save = useSavePreferences();
  const leave = (to: keyof typeof HOME | Place) => {
    save({ firstRunDone: true });
    go(typeof to === "string" ? HOME[to] : to);
  };
  const practise = () => {
    void door.call("practice_samples").then(intake.choose, sayProblem(text));
    leave("send");
  };
  const practice = status.environment === "practice";
  return (
    <main className={css.welcome}>
      <div className={css.column}>
        <div className={css.language}>
          <LanguageChoice quiet />
        </div>
        <h1>{text("welcome.title")}</h1>
        <p className={css.lead}>{text("welcome.lead")}</p>
        <ol className={css.steps}>
          <Step icon={FlaskConical} title={text("welcome.practice")} more={text("welcome.practice.more")}>
            {practice && (
              <Button tone="primary" icon={Send} onPress={practise} data-testid="send-samples">
                {text("welcome.practice.start")}
              </Button>
            )}
          </Step>
          <Step icon={BadgeCheck} title={text("welcome.certificate")} more={text("welcome.certificate.more")}>
            <Button onPress={() => leave("certificate")}>{text("welcome.certificate.start")}</Button>
          </Step>
          <Step icon={Send} title={text("welcome.send")} more={text("welcome.send.more")}>
            <Button onPress={() => leave({ screen: "settings", adds: true })} data-testid="welcome-authority">
              {text("welcome.send.start")}
            </Button>
          </Step>
        </ol>
        <Button tone="quiet" icon={ArrowRight} onPress={() => leave("send")} data-testid="welcome-skip">
          {text("welcome.skip")}
        </Button>
      </div>
    </main>
  );
}

function Step(props: { icon: LucideIcon; title: string; more: string; children?: React.ReactNode }) {
  const { icon: Icon, title, more, children } = props;
  return (
    <li className={css.step}>
      <Icon aria-hidden size={22} strokeWidth={1.8} />
      <div className={css.words}>
        <h2>{title}</h2>
        <p>{more}</p>
        {children && <div className={css.action}>{children}</div>}
      </div>
    </li>
  );
}
