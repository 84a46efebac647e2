// @vitest-environment jsdom
// The whole window, while another room comes into use: nothing that was said in the first stays, and nothing can be taken
// back in the second.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, it, vi } from "vitest";

import { App } from "../src/app";
import { door } from "../src/bridge/mock/browser";
import { createCache } from "../src/bridge/queries";
import { loadWords } from "../src/i18n/text";
import { dismissAll, say, sayProblem } from "../src/kit/toasts";

vi.mock("#door", async () => await import("../src/bridge/mock/browser"));
vi.setConfig({ testTimeout: 60_000 });
vi.stubGlobal("CSS", { escape: (text: string) => text });
vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

it("leaves nothing of what was said in the first, also where other messages cover it", async () => {
  const cache = createCache();
  const root = createRoot(document.body.appendChild(document.createElement("div")));
  await act(async () =>
    root.render(
      <QueryClientProvider client={cache}>
        <App />
      </QueryClientProvider>,
    ),
  );
  await vi.waitFor(() => expect(document.querySelector("main h1")).not.toBeNull(), 30_000);
  const said = () => [...document.querySelectorAll('[role="alertdialog"]')].map((toast) => toast.textContent);
  await act(async () => {
    say({ tone: "done", title: "The list is empty", undo: () => undefined });
    for (const title of ["First", "Second", "Third"]) say({ tone: "attention", title });
  });
  await vi.waitFor(() => expect(said()).toHaveLength(3));
  // What was refused because of the change can be said before the window knows of it.
  const { text } = await loadWords("en");
  const refused = { code: "room-changed", params: {}, blame: "you", remedy: "look-at-list", trace: "" };
  await act(async () => sayProblem(text)(refused));
  const status = await door.call("status");
  await act(async () => cache.setQueryData(["status"], { ...status, room: status.room + 1 }));
  await vi.waitFor(() => expect(said()).toHaveLength(1));
  expect(said()[0]).toContain("Another room is in use now");
  await act(async () => say({ tone: "attention", title: "First" }));
  expect(said()).toHaveLength(2);
  await act(async () => dismissAll());
  act(() => root.unmount());
});
