// @vitest-environment jsdom
// A view that is kept under a name that another one has: what that one shows is said, and it can be put back.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { beforeEach, expect, it, vi } from "vitest";

import { createCache } from "../src/bridge/queries";
import { Toasts, dismissAll } from "../src/kit/toasts";
import { KeepView } from "../src/parts/saved-views";
import type { SavedView } from "../src/bridge/generated/SavedView";
import { EVERYTHING } from "../src/view";
import { render } from "./render";

const { call } = vi.hoisted(() => ({ call: vi.fn(async (): Promise<unknown> => null) }));
vi.mock("#door", () => ({ door: { call, here: () => ({ call }) } }));
vi.stubGlobal("CSS", { escape: (text: string) => text });

const KEPT: SavedView = {
  ...EVERYTHING,
  name: "Mine",
  states: ["failed"],
  search: "Muster",
  period: "week",
  sort: "disease",
};
const by = (id: string) => document.querySelector<HTMLElement>(`[data-testid="${id}"]`);
const press = (id: string) => act(async () => by(id)?.click());

beforeEach(() => {
  call.mockClear();
  document.body.replaceChildren();
  dismissAll();
});

async function named(reveal: boolean) {
  await render(
    <QueryClientProvider client={createCache()}>
      <KeepView view={{ ...EVERYTHING, group: "completed" }} kept={[KEPT]} onClose={vi.fn()} />
      <Toasts />
    </QueryClientProvider>,
    "en",
    { reveal },
  );
  const field = by("view-name") as HTMLInputElement;
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
  await act(async () => {
    set?.call(field, "Mine");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await press("view-keep");
}

it("says what the view that is replaced shows, and puts it back", async () => {
  await named(true);
  const said = by("view-exists")?.textContent;
  expect(said).toContain("“Muster”");
  expect(said).toContain("Failed");
  expect(said).toContain("Last 7 days");
  expect(said).toContain("sorted by Disease");
  expect(call).not.toHaveBeenCalled();
  await press("view-keep");
  expect(call).toHaveBeenCalledWith("keep_view", { view: { ...EVERYTHING, group: "completed", name: "Mine" } });
  await vi.waitFor(() => expect(document.body.textContent).toContain("The view “Mine” is replaced"));
  await press("toast-undo");
  expect(call).toHaveBeenLastCalledWith("keep_view", { view: KEPT });
});

it("does not show a name that is searched for while names are hidden", async () => {
  await named(false);
  expect(by("view-exists")?.textContent).not.toContain("Muster");
});
