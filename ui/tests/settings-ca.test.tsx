// @vitest-environment jsdom
// The file of a CA that is to be given to an authority: what becomes of it when the form is left, or opened.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { expect, it, vi } from "vitest";

import type { EndpointView } from "../src/bridge/generated/EndpointView";
import { createCache } from "../src/bridge/queries";
import { IntakeContext } from "../src/intake";
import type { IntakeDesk } from "../src/intake";
import type { Place } from "../src/place";
import { Settings } from "../src/screens/settings";
import { render } from "./render";

const { core } = vi.hoisted(() => ({ core: { endpoints: [] as unknown[] } }));

vi.mock("#door", async () => {
  const { createMock } = await import("../src/bridge/mock/core");
  const made = createMock({ rows: 1, environment: "practice", firstRunDone: true, language: "en", theme: "system" });
  const answer = made.call as (command: string, takes?: unknown) => Promise<unknown>;
  const door = {
    ...made,
    call: async (command: string, takes?: unknown) =>
      command === "endpoints" ? core.endpoints : answer(command, takes),
    here: () => door,
  };
  return { door };
});

// The whole screen and its dialogs are drawn, on a computer that may be busy.
vi.setConfig({ testTimeout: 30_000 });
// The library of the dialogs asks for it.
vi.stubGlobal("CSS", { escape: (text: string) => text });

const endpoint = (name: string, environment: EndpointView["environment"]): EndpointView => ({
  name,
  environment,
  baseUrl: `https://${name.toLowerCase()}.test/v1/fhir`,
  release: "1.13.1",
  language: "de-CH",
  inUse: environment === "practice",
  ownCa: false,
  ca: null,
  proxy: null,
});
const PRACTICE = endpoint("Practice", "practice");
const PILOT = endpoint("Pilot", "integration");

const by = (id: string) => document.querySelector<HTMLElement>(`[data-testid="${id}"]`);
const dialog = () => document.querySelector<HTMLElement>("[role=dialog]");
/** A press of what is not there is a mistake of the test, not a press that does nothing. */
const press = (element: Element | null | undefined) => {
  if (!element) throw new Error("there is nothing to press");
  return act(async () => (element as HTMLElement).click());
};
const named = (name: string, within: ParentNode | null = document) =>
  [...(within?.querySelectorAll("button") ?? [])].find((one) => (one.ariaLabel ?? one.textContent) === name);
/** Leaves the form without keeping anything of it. */
const leave = async () => {
  await press(named("Cancel", dialog()));
  await vi.waitFor(() => expect(dialog()).toBeNull());
};

async function shown(endpoints: EndpointView[], go: (place: Place) => void = () => undefined) {
  core.endpoints = endpoints;
  await render(
    <QueryClientProvider client={createCache()}>
      <IntakeContext value={{} as IntakeDesk}>
        <Settings ca="/files/ca.pem" />
      </IntakeContext>
    </QueryClientProvider>,
    "en",
    { go },
  );
  await vi.waitFor(() => expect(by("ca-for")).not.toBeNull());
}

it("stays at hand where the form of the only authority, which opens at once, is left", async () => {
  await shown([PRACTICE, PILOT]);
  await vi.waitFor(() => expect(dialog()?.textContent).toContain("Pilot"));
  await leave();
  expect(by("ca-for")?.textContent).toContain("ca.pem");
  await press(named("Pilot", by("ca-for")));
  await vi.waitFor(() => expect(dialog()?.textContent).toContain("Pilot"));
  await leave();
  await press(by("add-endpoint"));
  await vi.waitFor(() => expect(dialog()?.textContent).toContain("Add an authority"));
});

it("stays at hand where there is no authority yet, and the form for one is left", async () => {
  await shown([PRACTICE]);
  await vi.waitFor(() => expect(dialog()?.textContent).toContain("Add an authority"));
  await leave();
  expect(by("ca-for")).not.toBeNull();
});

it("is put away, and not given to an authority that is only changed", async () => {
  await shown([PRACTICE, PILOT, endpoint("Second", "integration")]);
  // The file is on the screen before the authorities are known.
  await vi.waitFor(() => expect(named("Change Pilot")).toBeDefined());
  expect(dialog()).toBeNull();
  await press(named("Change Pilot"));
  await vi.waitFor(() => expect(dialog()).not.toBeNull());
  expect(dialog()?.querySelector("details")?.open).toBe(false);
  await leave();
  await press(named("Cancel", by("ca-for")));
  expect(by("ca-for")).toBeNull();
});

it("is used once: whoever comes back to the settings has not asked for it again", async () => {
  const went: Place[] = [];
  await shown([PRACTICE, PILOT], (place) => went.push(place));
  expect(went).toEqual([{ screen: "settings" }]);
});
