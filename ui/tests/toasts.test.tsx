// @vitest-environment jsdom
// How long a message stands in the corner of the window.

import { act } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Toasts, dismissAll, say, sayProblem } from "../src/kit/toasts";
import { useIntakeDesk } from "../src/intake";
import type { IntakeDesk } from "../src/intake";
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

const text = Object.assign((id: string) => id, { code: (id: string) => id }) as unknown as Text;
const problem = (code: string) => ({ code, params: {}, blame: "you", remedy: "free-space", trace: "" });

/** Closes what is shown until nothing more comes up from behind: all that stood there, one after the other. */
async function closeEach(): Promise<string[]> {
  const all: string[] = [];
  for (let at = 0; at < 20 && shown().length > 0; at += 1) {
    const [first = ""] = shown();
    all.push(first);
    const close = document.querySelector<HTMLElement>('[role="alertdialog"] button[aria-label="Close"]');
    await act(async () => close?.click());
    await wait(1);
  }
  return all;
}

it("a problem that comes again stands once", async () => {
  await render(<Toasts />);
  for (const code of ["disk-full", "disk-full", "no-endpoint"]) {
    await act(async () => sayProblem(text)(problem(code)));
    await wait(1);
  }
  expect(shown()).toHaveLength(2);
});

it("a problem that comes again stands once, also where others have covered it", async () => {
  await render(<Toasts />);
  const codes = ["first", "second", "third", "fourth", "fifth"];
  for (const code of [...codes, ...codes, "first"]) {
    await act(async () => sayProblem(text)(problem(code)));
    await wait(1);
  }
  expect(shown()).toHaveLength(3);
  expect(await closeEach()).toHaveLength(codes.length);
  // Once it was closed, it can be said again.
  await act(async () => sayProblem(text)(problem("first")));
  expect(shown()).toHaveLength(1);
});

it("what is said of a problem in other places stands once as well", async () => {
  await render(<Toasts />);
  for (const _ of [1, 2, 3]) await act(async () => say({ tone: "attention", title: "The dialog is open" }));
  await wait(1);
  expect(await closeEach()).toHaveLength(1);
});

it("nothing comes up from behind once all are taken away, and a problem can be said anew", async () => {
  await render(<Toasts />);
  await act(async () => say({ tone: "done", title: "Emptied", undo: () => undefined }));
  for (const code of ["first", "second", "third"]) await act(async () => sayProblem(text)(problem(code)));
  await act(async () => dismissAll());
  await act(async () => sayProblem(text)(problem("first")));
  await wait(1);
  expect((await closeEach()).map((one) => one.includes("problem.first"))).toEqual([true]);
});

it("the key takes back what was done last, and nothing that stands no more", async () => {
  await render(<Toasts />);
  const undone: string[] = [];
  for (const title of ["first", "second"]) {
    await act(async () => say({ tone: "done", title, undo: () => undone.push(title) }));
    await wait(1);
  }
  const press = () =>
    act(async () =>
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "z", ctrlKey: true, bubbles: true })),
    );
  await press();
  expect(undone).toEqual(["second"]);
  await press();
  await press();
  expect(undone).toEqual(["second", "first"]);
  await act(async () => say({ tone: "done", title: "third", undo: () => undone.push("third") }));
  await wait(60);
  await press();
  await act(async () => say({ tone: "done", title: "fourth", undo: () => undone.push("fourth") }));
  await act(async () => dismissAll());
  await press();
  expect(undone).toHaveLength(2);
});

it("what was said of what was just sent goes as that is taken back, and nothing else", async () => {
  const known: { desk: IntakeDesk | undefined } = { desk: undefined };
  function Desk() {
    known.desk = useIntakeDesk(true, false);
    return <Toasts />;
  }
  const element = await render(<Desk />);
  await act(async () => {
    say({ tone: "done", title: "all corrected", isOfBatch: true });
    say({ tone: "done", title: "saved" });
  });
  await wait(1);
  expect(element.ownerDocument.body.textContent).toContain("all corrected");
  await act(async () => known.desk?.undone({ count: 1, ids: [7] }));
  await wait(1);
  expect(element.ownerDocument.body.textContent).not.toContain("all corrected");
  expect(element.ownerDocument.body.textContent).toContain("saved");
  await act(async () => dismissAll());
});
