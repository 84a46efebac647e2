// Help without a network: what the screen is for, what one does there and what one should know; then the keys.

import { ListChecks } from "lucide-react";
import { useState } from "react";

import { useText } from "../i18n/text";
import type { TextId } from "../i18n/text";
import type { Screen } from "../place";
import { useChecklistAgain } from "./checklist";
import { Button } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import css from "./help.module.css";
import { KeyList } from "./keys";

/** What is said of each screen, in order. */
const PAGES: Record<Screen, TextId[]> = {
  send: ["help.send.1", "help.send.2", "help.send.3"],
  reports: ["help.reports.1", "help.reports.2", "help.reports.3"],
  correct: ["help.correct.1", "help.correct.2", "help.correct.3"],
  overview: ["help.overview.1", "help.overview.2"],
  ask: ["help.ask.1", "help.ask.2"],
  certificate: ["help.certificate.1", "help.certificate.2", "help.certificate.3"],
  settings: ["help.settings.1", "help.settings.2", "help.settings.3"],
};

export function Help({ screen, onClose }: { screen: Screen; onClose: () => void }) {
  const text = useText();
  const [page, setPage] = useState<Screen>(screen);
  const stepsAgain = useChecklistAgain();
  return (
    <Dialog title={text("help.title")} size="large" scrolls onClose={onClose}>
      <div className={css.help}>
        <nav className={css.topics} aria-label={text("help.topics")}>
          {(Object.keys(PAGES) as Screen[]).map((one) => (
            <Button
              key={one}
              tone={one === page ? "plain" : "quiet"}
              aria-pressed={one === page}
              onPress={() => setPage(one)}
              data-testid={`help-${one}`}
            >
              {text(`nav.${one}`)}
            </Button>
          ))}
        </nav>
        <section className={`${css.page} selectable`} aria-live="polite" data-testid="help-page">
          <h3>{text(`nav.${page}`)}</h3>
          {PAGES[page].map((id) => (
            <p key={id}>{text(id)}</p>
          ))}
          {page === "send" && stepsAgain && (
            <Button
              icon={ListChecks}
              onPress={() => {
                onClose();
                stepsAgain();
              }}
              data-testid="checklist-show"
            >
              {text("checklist.show")}
            </Button>
          )}
        </section>
        <section className={css.keys}>
          <h3>{text("keys.title")}</h3>
          <KeyList />
        </section>
      </div>
    </Dialog>
  );
}
