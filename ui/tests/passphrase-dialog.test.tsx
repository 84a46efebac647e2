// @vitest-environment jsdom
// A passphrase is changed: what is wrong stands where it was typed, and what was done is said.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { beforeEach, expect, it, vi } from "vitest";

import { createCache } from "../src/bridge/queries";
import { PassphraseDialog } from "../src/parts/passphrase-dialog";
import { render } from "./render";

const call = vi.hoisted(() => vi.fn<(command: string, takes?: object) => Promise<unknown>>());
const say = vi.hoisted(() => vi.fn<(words: { tone: string; title: string }) => void>());
vi.mock("#door", () => ({ door: { call, here: () => ({ call }) } }));
vi.mock("../src/kit/toasts", () => ({ say, sayProblem: () => () => undefined }));
vi.stubGlobal("CSS", { escape: (text: string) => text });

const by = (id: string) => document.querySelector<HTMLInputElement>(`[data-testid="${id}"]`);
const type = (id: string, text: string) =>
  act(async () => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(by(id), text);
    by(id)?.dispatchEvent(new Event("input", { bubbles: true }));
  });
const press = (id: string) => act(async () => by(id)?.click());

async function opened(of: "lock" | "vault", hasOne: boolean) {
  const onClose = vi.fn();
  await render(
    <QueryClientProvider client={createCache()}>
      <PassphraseDialog of={of} hasOne={hasOne} onClose={onClose} />
    </QueryClientProvider>,
  );
  return onClose;
}

beforeEach(() => {
  call.mockReset().mockResolvedValue(null);
  say.mockReset();
});

it.each([
  ["lock", "unlock-refused"],
  ["vault", "wrong-passphrase"],
] as const)("the present one that is wrong is said at its field, which has the keyboard (%s)", async (of, code) => {
  const onClose = await opened(of, true);
  await type("passphrase-current", "wrong");
  await type("passphrase-new", "longer than before");
  await type("passphrase-again", "longer than before");
  call.mockRejectedValueOnce({ code, params: {}, blame: "you", remedy: "enter-password", trace: "" });
  await press("passphrase-keep");
  await vi.waitFor(() => expect(document.body.textContent).toContain("The present passphrase is wrong."));
  expect(document.activeElement).toBe(by("passphrase-current"));
  expect(onClose).not.toHaveBeenCalled();
  await press("passphrase-keep");
  await vi.waitFor(() => expect(onClose).toHaveBeenCalledOnce());
  expect(say).toHaveBeenCalledWith({ tone: "done", title: "The passphrase is changed" });
});

it("what removes it says so, before and afterwards", async () => {
  await opened("lock", true);
  await type("passphrase-current", "present");
  expect(by("passphrase-remove")?.textContent).toBe("Remove the passphrase");
  await press("passphrase-remove");
  await vi.waitFor(() => expect(say).toHaveBeenCalledWith({ tone: "done", title: "The passphrase is removed" }));
});

it("one that is too short stays so, also where the second is another one", async () => {
  await opened("vault", true);
  await type("passphrase-new", "abcd");
  await type("passphrase-again", "x");
  expect(document.body.textContent).toContain("At least 12 characters are needed.");
  expect(document.body.textContent).toContain("This differs from the first one");
  // The keys are never without one.
  expect(by("passphrase-remove")).toBeNull();
});
