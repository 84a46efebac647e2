// @vitest-environment jsdom
// What an authority answered: to read, as it came, and to pass on.

import { act } from "react";
import { afterEach, expect, it, vi } from "vitest";

import type { TimelineView } from "../src/bridge/generated/TimelineView";
import { Timeline } from "../src/parts/timeline";
import { render } from "./render";

const BODY = '{"resourceType":"OperationOutcome","issue":[]}';

async function shown(body: string) {
  const evidence = { httpStatus: 422, contentType: "application/fhir+json", body, truncated: false };
  const step = { event: "failed", at: "2026-11-20T07:14:00Z", person: "labcourier", params: {}, evidence };
  const element = await render(<Timeline steps={[step as unknown as TimelineView]} />);
  await act(async () => element.querySelector<HTMLElement>("[aria-expanded]")?.click());
  return element;
}

afterEach(() => vi.unstubAllGlobals());

it("is spread over lines to be read, and stands as it came when somebody asks for it", async () => {
  const element = await shown(BODY);
  const text = () => element.querySelector("pre")?.textContent;
  expect(text()).toContain('\n  "resourceType"');
  await act(async () => element.querySelector<HTMLElement>('[role="switch"]')?.click());
  expect(text()).toBe(BODY);
});

it("is copied as it came", async () => {
  const written = vi.fn(async () => undefined);
  vi.stubGlobal("navigator", { ...navigator, clipboard: { writeText: written } });
  const element = await shown(BODY);
  await act(async () => element.querySelector<HTMLElement>('[data-testid="copy-evidence"]')?.click());
  expect(written).toHaveBeenCalledWith(BODY);
});

it("has nothing to choose where no line was added", async () => {
  expect((await shown("Not found")).querySelector('[role="switch"]')).toBeNull();
});
