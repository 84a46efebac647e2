// @vitest-environment jsdom
// A choice that is not kept does not stay on the screen, and that is said.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { expect, it, vi } from "vitest";

import { nextTextSize, useSavePreferences } from "../src/bridge/preferences";
import { createCache } from "../src/bridge/queries";
import { Toasts } from "../src/kit/toasts";
import { render } from "./render";

const PROBLEM = { code: "journal-closed", params: {}, blame: "us", remedy: "call-it", trace: "" };

vi.mock("#door", () => ({
  door: {
    call: async (command: string) => (command === "set_preferences" ? Promise.reject(PROBLEM) : { language: "en" }),
  },
}));

it("a language that is refused is put back, and it is said", async () => {
  const cache = createCache();
  cache.setQueryData(["preferences"], { language: "en" });
  let save: ReturnType<typeof useSavePreferences> | undefined;
  function Frame() {
    save = useSavePreferences();
    return null;
  }
  await render(
    <QueryClientProvider client={cache}>
      <Frame />
      <Toasts />
    </QueryClientProvider>,
  );
  await act(async () => save?.({ language: "de" }));
  await vi.waitFor(() => expect(document.querySelector("[role=alertdialog]")).not.toBeNull());
  expect(cache.getQueryData(["preferences"])).toMatchObject({ language: "en" });
});

it("the size of the text goes up and down by steps, and stays at its ends", () => {
  expect([
    nextTextSize(100, 1),
    nextTextSize(100, -1),
    nextTextSize(200, 1),
    nextTextSize(90, -1),
    nextTextSize(120, 1),
  ]).toEqual([115, 90, 200, 90, 130]);
});
