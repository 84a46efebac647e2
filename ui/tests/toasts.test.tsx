// @vitest-environment jsdom
// How long a message stands in the corner of the window.

import { act } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Toasts, dismissAll, say, sayProblem } from "../src/kit/toasts";
import type { Text } from "../src/i18n/text";
import { render } from "./render";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  act(dismissAll);
  vi.useRealTimers();
});

const shown = () => [...document.querySelectorAll('[role="alertdialog"]')].map((toast) => toast.textContent);
const wait = (seconds: number) => act(async () => vi.advanceTimersByTimeAsync(seconds * 1000));

it("a problem stands until it is closed, and what went well goes by itself", async () => {
  await render(<Toasts />);
  await act(async () => {
    say({ tone: "attention", title: "The disk is full" });
    say({ tone: "done", title: "Saved" });
  });
  expect(shown().toSorted()).toEqual(["Saved", "The disk is full"]);
  await wait(60);
  expect(shown()).toEqual(["The disk is full"]);
  await wait(3600);
  expect(shown()).toEqual(["The disk is full"]);
  const close = document.querySelector<HTMLElement>('[role="alertdialog"] button[aria-label="Close"]');
  await act(async () => close?.click());
  await wait(1);
  expect(shown()).toEqual([]);
});

it("a problem that comes again stands once", async () => {
  await render(<Toasts />);
  const text = Object.assign((id: string) => id, { code: (id: string) => id }) as unknown as Text;
  const problem = (code: string) => ({ code, params: {}, blame: "you", remedy: "free-space", trace: "" });
  for (const code of ["disk-full", "disk-full", "no-endpoint"]) {
    await act(async () => sayProblem(text)(problem(code)));
    await wait(1);
  }
  expect(shown()).toHaveLength(2);
});
