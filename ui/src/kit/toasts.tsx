// What the window says in its corner: briefly, above whatever lies there to be pressed.

import { CircleCheck, Info, TriangleAlert, Undo2, X } from "lucide-react";
import { useEffect } from "react";
import {
  Text as Words,
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from "react-aria-components";

import { problemOf } from "../bridge/door";
import type { Text } from "../i18n/text";
import { useText } from "../i18n/text";
import { Button } from "./controls";
import { problemText } from "./notes";
import { offerUndo } from "./undo";
import css from "./toasts.module.css";

interface ToastWords {
  tone: "done" | "attention" | "progress";
  title: string;
  more?: string;
  /** Takes back what happened. */
  undo?: () => void;
  /** It holds as long as what was just sent is not taken back. */
  isOfBatch?: boolean;
  /** It speaks of the change of rooms itself. */
  isOfChange?: boolean;
}

const ICONS = { done: CircleCheck, attention: TriangleAlert, progress: Info };

const queue = new ToastQueue<ToastWords>({ maxVisibleToasts: 3 });

/** How long a message stands, and one with which something can be taken back. A problem stands until it is closed: whoever
 *  reads slowly, or looks elsewhere, must not miss it. */
const SHOWN_MS = 6_000;
const UNDO_MS = 15_000;

/** What lets go of Ctrl+Z, by the key of what stands. */
const withdrawals = new Map<string, () => void>();

/** All that stands, by its key, also what later ones cover: the queue tells only what is shown. */
const standing = new Map<string, ToastWords>();

function close(which: (words: ToastWords) => boolean): void {
  for (const [key, words] of standing) if (which(words)) queue.close(key);
}

/** Says briefly what happened. */
export function say(words: ToastWords): void {
  const { tone, title, more } = words;
  const isProblem = tone === "attention";
  // The same problem once more takes the place of the one before.
  if (isProblem) close((one) => one.tone === tone && one.title === title && one.more === more);
  const onClose = () => {
    standing.delete(key);
    withdrawals.get(key)?.();
    withdrawals.delete(key);
  };
  const timeout = words.undo ? UNDO_MS : SHOWN_MS;
  const key = queue.add(words, isProblem ? { onClose } : { onClose, timeout });
  standing.set(key, words);
  const { undo } = words;
  if (undo)
    withdrawals.set(
      key,
      offerUndo(Date.now(), () => takeBack(key, undo)),
    );
}

function takeBack(key: string, undo: () => void): void {
  queue.close(key);
  undo();
}

/** Takes away what was said of one room, as another one comes into use: there nothing of it holds, and nothing can be
 *  taken back. */
export function dismissOfRoom(): void {
  close((words) => !words.isOfChange);
}

/** Takes away what was said of what was just sent, as that is taken back. */
export function dismissOfBatch(): void {
  close((words) => words.isOfBatch === true);
}

/** Takes all of them away: the window was locked. */
export function dismissAll(): void {
  // The queue does not say of these that they are closed.
  standing.clear();
  queue.clear();
  withdrawals.forEach((withdraw) => withdraw());
  withdrawals.clear();
}

/** For the rejection of a command that has no place of its own on the screen. */
export function sayProblem(text: Text): (thrown: unknown) => void {
  return (thrown) => {
    const problem = problemOf(thrown);
    say({ tone: "attention", ...problemText(text, problem), isOfChange: problem.code === "room-changed" });
  };
}

/** Where what must not be covered begins, from the lower edge of the window: the bars and footers below a message. */
function keptClear(): number {
  const region = document.querySelector(`.${css.region}`)?.getBoundingClientRect();
  if (!region) return 0;
  const bars = [...document.querySelectorAll("[data-keeps-clear]")].map((bar) => bar.getBoundingClientRect());
  const below = bars.filter(({ height, left, right }) => height > 0 && right > region.left && left < region.right);
  return Math.max(0, ...below.map(({ top }) => innerHeight - top));
}

/** Follows these bars as they come, go and grow, while there is something to say. */
function useKeptClear(): void {
  useEffect(() => {
    let asked = 0;
    const measure = () => {
      asked = 0;
      document.documentElement.style.setProperty("--kept-clear", `${keptClear()}px`);
    };
    const ask = () => {
      asked ||= requestAnimationFrame(measure);
    };
    // What the measure itself changes is an attribute, which is not looked at.
    const changes = new MutationObserver(ask);
    changes.observe(document.body, { childList: true, subtree: true, characterData: true });
    addEventListener("resize", ask);
    measure();
    return () => {
      cancelAnimationFrame(asked);
      changes.disconnect();
      removeEventListener("resize", ask);
    };
  }, []);
}

/** Stands as long as a message does. */
function KeptClear() {
  useKeptClear();
  return null;
}

export function Toasts() {
  const text = useText();
  return (
    <ToastRegion queue={queue} className={css.region} aria-label={text("toast.region")}>
      {({ toast }) => {
        const Icon = ICONS[toast.content.tone];
        return (
          <Toast toast={toast} className={`${css.toast} ${css[toast.content.tone]}`}>
            <KeptClear />
            <Icon aria-hidden size={18} />
            <ToastContent className={css.words}>
              <Words slot="title" elementType="strong">
                {toast.content.title}
              </Words>
              {toast.content.more && <Words slot="description">{toast.content.more}</Words>}
            </ToastContent>
            {toast.content.undo && (
              <Button
                icon={Undo2}
                onPress={() => toast.content.undo && takeBack(toast.key, toast.content.undo)}
                data-testid="toast-undo"
              >
                {text("action.undo")}
              </Button>
            )}
            <Button slot="close" tone="quiet" icon={X} label={text("action.close")} />
          </Toast>
        );
      }}
    </ToastRegion>
  );
}
