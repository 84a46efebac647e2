// @vitest-environment jsdom
// What a restore has lost, and what was left lying in the watched folder.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import type { ReactNode } from "react";
import { beforeEach, expect, it, vi } from "vitest";

import { createCache } from "../src/bridge/queries";
import { IntakeContext } from "../src/intake";
import type { IntakeDesk } from "../src/intake";
import { LostReports } from "../src/parts/lost";
import { LeftLying } from "../src/parts/watched";
import { render } from "./render";

const { call } = vi.hoisted(() => ({ call: vi.fn() }));
vi.mock("#door", () => ({ door: { call } }));

const problem = { code: "journal-busy", params: {}, blame: "us", remedy: "retry", trace: "read" };
const endpoint = { id: "one", name: "authority", environment: "production" };

/** Every command is answered but this one, which fails once. */
function failingOnce(failing: string, answers: Record<string, unknown>) {
  let failed = false;
  call.mockImplementation(async (name: string) => {
    if (name === failing && !failed) {
      failed = true;
      throw problem;
    }
    return answers[name];
  });
}

async function shown(part: ReactNode) {
  return await render(<QueryClientProvider client={createCache()}>{part}</QueryClientProvider>, "de");
}

const by = (id: string) => document.querySelector<HTMLElement>(`[data-testid="${id}"]`);

async function askOnceMore() {
  await vi.waitFor(() => expect(by("read-again")).not.toBeNull());
  await act(async () => by("read-again")?.click());
}

beforeEach(() => call.mockReset());

it("does not hide what is lost because it cannot be read just now", async () => {
  const lost = { total: 1, newest: [{ file: "a.json", at: "2026-11-01T08:00:00Z", endpoint }] };
  failingOnce("lost_reports", { status: { room: "real" }, lost_reports: lost });
  await shown(<LostReports />);
  expect(by("lost-reports")).toBeNull();
  await askOnceMore();
  await vi.waitFor(() => expect(by("lost-reports")?.textContent).toContain("a.json"));
});

it("does not hide what was left lying because it cannot be read just now", async () => {
  const left = { count: 2, newest: "2026-11-01T08:00:00Z", paths: ["/in/a.json", "/in/b.json"] };
  failingOnce("left_lying", { status: { room: "real" }, left_lying: left });
  await shown(
    <IntakeContext value={{} as IntakeDesk}>
      <LeftLying />
    </IntakeContext>,
  );
  await askOnceMore();
  await vi.waitFor(() => expect(by("left-lying")?.textContent).toContain("2 "));
});
