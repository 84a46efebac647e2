import { CircleCheck, Info, TriangleAlert, X } from "lucide-react";
import {
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
import css from "./toasts.module.css";

interface ToastWords {
  tone: "done" | "attention" | "progress";
  title: string;
  more?: string;
}

const ICONS = { done: CircleCheck, attention: TriangleAlert, progress: Info };

const queue = new ToastQueue<ToastWords>({ maxVisibleToasts: 3 });

/** Says briefly what happened. Problems stay until they are closed. */
export function say(words: ToastWords): void {
  queue.add(words, words.tone === "attention" ? {} : { timeout: 6000 });
}

/** Takes all of them away: the window was locked. */
export function dismissAll(): void {
  queue.clear();
}

/** For the rejection of a command that has no place of its own on the screen. */
export function sayProblem(text: Text): (thrown: unknown) => void {
  return (thrown) => say({ tone: "attention", ...problemText(text, problemOf(thrown)) });
}

export function Toasts() {
  const text = useText();
  return (
    <ToastRegion queue={queue} className={css.region} aria-label={text("toast.region")}>
      {({ toast }) => {
        const Icon = ICONS[toast.content.tone];
        return (
          <Toast toast={toast} className={`${css.toast} ${css[toast.content.tone]}`}>
            <Icon aria-hidden size={18} />
            <ToastContent className={css.words}>
              <strong>{toast.content.title}</strong>
              {toast.content.more && <span>{toast.content.more}</span>}
            </ToastContent>
            <Button slot="close" tone="quiet" icon={X} label={text("action.close")} />
          </Toast>
        );
      }}
    </ToastRegion>
  );
}
