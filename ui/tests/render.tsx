import type { ReactNode } from "react";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach } from "vitest";

import { WordsProvider, loadWords } from "../src/i18n/text";
import type { Language } from "../src/i18n/text";
import { HOME, WindowContext } from "../src/place";
import type { Window } from "../src/place";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

/** The window around what is rendered: names are shown. */
const WINDOW: Window = { place: HOME.reports, go: () => undefined, reveal: true, setReveal: () => undefined };

const open: (() => void)[] = [];
afterEach(() => open.splice(0).forEach((close) => close()));

/** Renders with the words of a language into the document. */
export async function render(node: ReactNode, language: Language = "en", own?: Partial<Window>): Promise<HTMLElement> {
  const words = await loadWords(language);
  const element = document.body.appendChild(document.createElement("div"));
  const root = createRoot(element);
  const whole = (
    <WordsProvider value={words}>
      <WindowContext value={{ ...WINDOW, ...own }}>{node}</WindowContext>
    </WordsProvider>
  );
  await act(async () => root.render(whole));
  open.push(() => {
    act(() => root.unmount());
    element.remove();
  });
  return element;
}
