// The window: language and theme, the frame, the screen in force, and what reaches the whole window
// (dropped files, keys, changes of the journal).

import { useQueryClient } from "@tanstack/react-query";
import type { QueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { I18nProvider } from "react-aria-components";

import { door } from "#door";

import css from "./app.module.css";
import type { DetailView } from "./bridge/generated/DetailView";
import type { OpenedView } from "./bridge/generated/OpenedView";
import { nextTextSize, useSavePreferences } from "./bridge/preferences";
import { journalFollower, usePreferences, useStatus } from "./bridge/queries";
import { WordsProvider, languageFor, loadWords, useWords } from "./i18n/text";
import type { Words } from "./i18n/text";
import { IntakeContext, useIntakeDesk } from "./intake";
import { useForgetting, useIdleLock, useLock } from "./lock";
import { Announcer } from "./kit/announcer";
import { BatchBar } from "./parts/batch";
import { ClosedScreen, closedOf, isOfLaboratory } from "./parts/closed";
import type { Closed } from "./parts/closed";
import { isDialogOpen } from "./kit/dialog";
import { useFocusKept } from "./kit/focus";
import { dropReceiver } from "./parts/drops";
import { DropQuestion, DropVeil } from "./parts/drop";
import type { DropTarget } from "./parts/drop";
import { EnvironmentBar } from "./parts/environment-bar";
import { Help } from "./parts/help";
import { usePaletteKey, usePlaceKeys, useSingleKeys, useSizeKeys, useWindowKeys } from "./parts/keys";
import { ReadProblem } from "./kit/notes";
import { Palette } from "./parts/palette";
import { Rail } from "./parts/rail";
import { Standing } from "./parts/standing";
import { Toasts, dismissOfRoom, say } from "./kit/toasts";
import { HOME, WindowContext, openReport, useOtherRoom } from "./place";
import type { Place, Window } from "./place";
import { Ask } from "./screens/ask";
import { Certificate } from "./screens/certificate";
import { useCertificateFiles } from "./screens/certificate-import";
import { Correct } from "./screens/correct";
import { Locked } from "./screens/locked";
import { Overview } from "./screens/overview";
import { Reports } from "./screens/reports";
import { Send } from "./screens/send";
import { Settings } from "./screens/settings";
import { Welcome } from "./screens/welcome";

export function App() {
  const preferences = usePreferences();
  const { language, theme } = preferences.data ?? { language: null, theme: "system" };
  useSizes(preferences.data?.textPercent ?? 100, preferences.data?.density ?? "comfortable");
  const words = useLanguage(languageFor(language, navigator.languages));
  useTheme(theme);
  if (!words || preferences.isPending) return null;
  return (
    <WordsProvider value={words}>
      <I18nProvider locale={words.locale}>
        <Frame />
      </I18nProvider>
    </WordsProvider>
  );
}

function useLanguage(language: Words["language"]): Words | undefined {
  const [words, setWords] = useState<Words>();
  useEffect(() => {
    let current = true;
    void loadWords(language).then((loaded) => {
      if (!current) return;
      setWords(loaded);
      // With the words, and not before: a screen reader speaks what is there in this language.
      document.documentElement.lang = language;
    });
    return () => {
      current = false;
    };
  }, [language]);
  return words;
}

/** Everything in the window is measured in the size of its text. */
function useSizes(percent: number, density: string): void {
  useEffect(() => {
    document.documentElement.style.fontSize = `${percent}%`;
    document.documentElement.style.setProperty("--text-scale", `${percent / 100}`);
    document.documentElement.dataset.density = density;
    // How many letters the window is wide is looked at anew only when its width changes, so it is asked for here.
    document.body.style.containerType = "normal";
    void document.body.offsetWidth;
    document.body.style.containerType = "";
  }, [percent, density]);
}

function useTheme(theme: string): void {
  useEffect(() => {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
      document.documentElement.dataset.theme = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
    };
    apply();
    dark.addEventListener("change", apply);
    return () => dark.removeEventListener("change", apply);
  }, [theme]);
}

/** Where a drop of files goes, from where the reader is: a report that is open may be corrected by it. */
function dropTarget(place: Place, cache: QueryClient): DropTarget {
  if (place.screen === "certificate") return { kind: "certificate" };
  const id = openReport(place);
  const actions = cache.getQueryData<DetailView>(["detail", id])?.row.actions ?? [];
  return id !== null && actions.includes("correct") ? { kind: "report", id } : { kind: "send" };
}

/** Files that hold a certificate or its key, wherever they are dropped. */
const CERTIFICATE_FILE = /\.(p12|pfx|pem|cer|crt|der|key)$/i;
/** Files that may be the correction of the report that is open; what else is dropped beside it is looked at in Send. */
const REPORT_FILE = /\.(json|xml)$/i;

function Frame() {
  const { text } = useWords();
  const [place, go] = useState<Place>(HOME.send);
  const [reveal, setReveal] = useState(false);
  const [hovering, setHovering] = useState(false);
  const [question, setQuestion] = useState<{ id: number; path: string }>();
  const [sheet, setSheet] = useState(false);
  const [palette, setPalette] = useState(false);
  const certificate = useCertificateFiles();
  const status = useStatus();
  const preferences = usePreferences();
  const save = useSavePreferences();
  const cache = useQueryClient();
  const lock = useLock();
  const locked = status.data?.locked ?? false;
  const intake = useIntakeDesk(reveal, locked);
  useIdleLock(preferences.data?.lockAfterMinutes, locked, lock);
  useForgetting(locked, () => {
    setReveal(false);
    setQuestion(undefined);
    setSheet(false);
    setPalette(false);
  });
  const closed = closedOf(status.data);
  const wasClosed = useRef(closed);
  useOtherRoom(status.data?.room, () => {
    intake.closeBatch();
    // A problem of practice must not stand in the laboratory's own room.
    dismissOfRoom();
    setQuestion(undefined);
    // What was named while the laboratory was closed is meant for it: it stays, and is looked at again there. Otherwise
    // what was chosen and judged in one room must not be sent in another with one press.
    const isOpened = wasClosed.current !== null && closed === null && status.data?.environment !== "practice";
    const left = isOpened ? 0 : intake.sources.length;
    if (left > 0) say({ tone: "attention", title: text("send.emptied", { n: left }), more: text("send.emptied.more") });
    if (!isOpened) intake.clear();
    go((place) => HOME[place.screen]);
    for (const numbered of ["batch", "chosen", "detail", "list", "list_counts", "saved_views"])
      cache.removeQueries({ queryKey: [numbered] });
  });
  useEffect(() => {
    wasClosed.current = closed;
  }, [closed]);
  const importCertificates = (paths: string[]) => {
    go(HOME.certificate);
    certificate.offer(paths);
  };
  const judgedFor = status.data && `${status.data.room} ${status.data.endpoint} ${status.data.baseUrl}`;
  // What is known at one authority is new at another: one press must not send there what was judged for the first.
  useOtherRoom(judgedFor, () => intake.lookAnew(intake.sources));
  const receiveOpened = useOpened(locked || status.data === undefined, ({ paths, refused, report }) => {
    if (report !== null) {
      if (preferences.data?.firstRunDone === false) save({ firstRunDone: true });
      go({ screen: "reports", group: null, open: report });
    }
    // Opened from elsewhere, and not dropped on what stands on the screen: a list to look at.
    if (paths.length + refused > 0) receive(paths, refused, { kind: "send" });
  });
  function receive(paths: string[], refused: number, target: DropTarget) {
    if (refused > 0) {
      say({ tone: "attention", title: text("drop.dialog"), more: text("drop.too-many", { n: refused }) });
      return;
    }
    // An open dialog is somebody's work: what is dropped beside it must not take it away.
    const receiver = dropReceiver();
    if (receiver) {
      receiver(paths);
      return;
    }
    if (isDialogOpen()) {
      say({ tone: "attention", title: text("drop.dialog"), more: text("drop.dialog.more") });
      return;
    }
    const certificates = paths.filter((path) => CERTIFICATE_FILE.test(path));
    if (certificates.length > 0 && certificates.length === paths.length) {
      if (preferences.data?.firstRunDone === false) save({ firstRunDone: true });
      importCertificates(paths);
      return;
    }
    if (preferences.data?.firstRunDone === false) save({ firstRunDone: true });
    const [only] = paths;
    if (target.kind === "certificate") certificate.offer(paths);
    else if (target.kind === "report" && paths.length === 1 && only && REPORT_FILE.test(only)) {
      setQuestion({ id: target.id, path: only });
    } else {
      go(HOME.send);
      intake.choose(paths);
    }
  }
  useCoreEvents({
    hovering: setHovering,
    dropped: (paths, refused) => !locked && receive(paths, refused, dropTarget(place, cache)),
    opened: receiveOpened,
  });
  useSingleKeys(preferences.data?.singleKeys ?? true);
  useWindowKeys({ showSheet: () => setSheet(true) });
  usePlaceKeys({ go, lock });
  useSizeKeys((by) => {
    const now = preferences.data?.textPercent ?? 100;
    save({ textPercent: by === 0 ? 100 : nextTextSize(now, by) });
  });
  usePaletteKey(() => !locked && preferences.data?.firstRunDone && setPalette(true));
  useTitle(status.data?.endpoint === "" ? undefined : status.data?.environment, closed);
  useFocusKept();
  const content = useFromTheTop(place.screen);

  const window = useMemo<Window>(() => ({ place, go, reveal, setReveal }), [place, reveal]);
  const first = preferences.data && !preferences.data.firstRunDone && status.data;
  const unread = status.error ? status : preferences;
  if (status.data && locked) {
    return (
      <div className={css.window}>
        <EnvironmentBar status={status.data} />
        <Locked status={status.data} />
      </div>
    );
  }
  return (
    <WindowContext value={window}>
      <IntakeContext value={intake}>
        <div className={css.window}>
          {status.data && <EnvironmentBar status={status.data} />}
          {first ? (
            <Welcome status={status.data} />
          ) : (
            <div className={css.frame}>
              <Rail status={status.data} showHelp={() => setSheet(true)} lock={lock} />
              <main className={css.screen}>
                <div className={css.content} ref={content}>
                  {unread.error && (
                    <div className={css.fault}>
                      <ReadProblem of={unread} />
                    </div>
                  )}
                  {status.data && <Standing status={status.data} />}
                  {status.data && <Announcer counts={status.data.counts} />}
                  <ScreenOf
                    place={place}
                    closed={closed}
                    room={status.data?.room}
                    judgedFor={judgedFor}
                    certificate={certificate}
                    onCertificates={importCertificates}
                  />
                </div>
                <BatchBar onCertificate={(path) => importCertificates([path])} />
              </main>
            </div>
          )}
        </div>
        {hovering && <DropVeil target={dropTarget(place, cache)} />}
        {question && <DropQuestion {...question} onClose={() => setQuestion(undefined)} />}
        {sheet && <Help screen={place.screen} onClose={() => setSheet(false)} />}
        {palette && <Palette onClose={() => setPalette(false)} showSheet={() => setSheet(true)} lock={lock} />}
        <Toasts />
      </IntakeContext>
    </WindowContext>
  );
}

function ScreenOf(props: {
  place: Place;
  closed: Closed | null;
  room: number | undefined;
  judgedFor: string | undefined;
  certificate: ReturnType<typeof useCertificateFiles>;
  onCertificates: (paths: string[]) => void;
}) {
  const { place, closed, room, judgedFor, certificate, onCertificates } = props;
  if (closed && isOfLaboratory(place.screen)) return <ClosedScreen of={place.screen} closed={closed} />;
  // What was marked in one room is another report in the other.
  switch (place.screen) {
    case "send":
      return <Send key={judgedFor} onCertificate={(path) => onCertificates([path])} />;
    case "reports":
      return <Reports key={room} {...place} />;
    case "correct":
      return <Correct key={room} open={place.open} cause={place.cause} />;
    case "overview":
      return <Overview key={String(place.stating)} stating={place.stating ?? false} />;
    case "ask":
      return <Ask key={place.about?.report} about={place.about} authority={judgedFor} />;
    case "certificate":
      return <Certificate files={certificate} />;
    case "settings":
      return <Settings adds={place.adds ?? false} ca={place.ca} at={place.at} />;
  }
}

/** Each screen is read from its beginning, also where all of them scroll in one and the same box. */
function useFromTheTop(screen: Place["screen"]) {
  const content = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (content.current) content.current.scrollTop = 0;
  }, [screen]);
  return content;
}

function useTitle(environment: string | undefined, closed: Closed | null): void {
  const { text } = useWords();
  useEffect(() => {
    const own = environment && environment !== "production" && text.code(`environment.${environment}`);
    const word = closed ? text(`closed.${closed}`) : own;
    document.title = word ? `${text("app.name")} – ${word}` : text("app.name");
  }, [environment, closed, text]);
}

/** What starts of the program hand over: asked for once the page is there, whenever it is told, and when nothing locks it any more. */
function useOpened(waits: boolean, take: (opened: OpenedView) => void): () => void {
  const latest = useRef(take);
  useEffect(() => {
    latest.current = take;
  });
  const ask = useCallback(() => {
    if (waits) return;
    // What the desk cannot say now waits there.
    door.call("opened").then(
      (opened) => latest.current(opened),
      () => undefined,
    );
  }, [waits]);
  useEffect(ask, [ask]);
  return ask;
}

/** Listens to the core as long as the window lives; the newest handlers answer. */
function useCoreEvents(to: {
  hovering: (on: boolean) => void;
  dropped: (paths: string[], refused: number) => void;
  opened: () => void;
}): void {
  const cache = useQueryClient();
  const latest = useRef(to);
  // Before anybody sees what it belongs to: what is dropped goes where the screen says.
  useLayoutEffect(() => {
    latest.current = to;
  });
  useEffect(
    () =>
      door.listen({
        changed: journalFollower(cache),
        drag: ({ phase }) => latest.current.hovering(phase === "enter"),
        dropped({ paths, refused }) {
          latest.current.hovering(false);
          latest.current.dropped(paths, refused ?? 0);
        },
        opened: () => latest.current.opened(),
      }),
    [cache],
  );
}
