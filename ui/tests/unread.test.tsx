// @vitest-environment jsdom
// What cannot be read just now is not taken for nothing: it is said, and can be asked for again.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import type { ReactNode } from "react";
import { beforeAll, beforeEach, expect, it, vi } from "vitest";

import { UNKNOWN_CODE } from "../src/bridge/mock/messages";
import { row } from "../src/bridge/mock/reports";
import { createCache } from "../src/bridge/queries";
import { causesOf } from "../src/causes";
import { IntakeContext } from "../src/intake";
import type { IntakeDesk } from "../src/intake";
import { BatchBar } from "../src/parts/batch";
import { BulkBar } from "../src/parts/bulk-bar";
import { GroupFilter } from "../src/parts/list-filters";
import { LostReports } from "../src/parts/lost";
import { Palette } from "../src/parts/palette";
import { SavedViews } from "../src/parts/saved-views";
import { LeftLying } from "../src/parts/watched";
import type { Selection } from "../src/selection";
import { Correct } from "../src/screens/correct";
import { CausePage } from "../src/screens/cause";
import { Certificate } from "../src/screens/certificate";
import type { CertificateFiles } from "../src/screens/certificate-import";
import { Overview } from "../src/screens/overview";
import { Reports } from "../src/screens/reports";
import { SILENCE_DAYS } from "../src/screens/silence";
import { EVERYTHING } from "../src/view";
import { render } from "./render";

const { call } = vi.hoisted(() => ({ call: vi.fn() }));
vi.mock("#door", () => ({ door: { call } }));

const problem = { code: "journal-busy", params: {}, blame: "us", remedy: "retry", trace: "read" };
const endpoint = { id: "one", name: "authority", environment: "production" };

/** Every command is answered but this one, which fails once; `takes`: only where it is called with that. */
function failingOnce(failing: string, answers: Record<string, unknown>, takes: object = {}) {
  let failed = false;
  call.mockImplementation(async (name: string, given: object = {}) => {
    const isMeant = Object.entries(takes).every(([key, value]) => (given as Record<string, unknown>)[key] === value);
    if (name === failing && isMeant && !failed) {
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

// What the library of the menus needs of a browser.
beforeAll(() => vi.stubGlobal("CSS", { escape: (text: string) => text.replaceAll(/\W/g, "\\$&") }));
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

it("does not hide which values a cause is about because they cannot be read just now", async () => {
  const [cause] = causesOf([{ ...row(7, 7, 0), state: "failed" as const, message: UNKNOWN_CODE }]);
  if (!cause) throw new Error("no cause");
  const fields = [{ path: "Observation.value.code", values: [{ value: "1227", count: 31 }] }];
  failingOnce("cause_fields", { endpoints: [], cause_fields: fields });
  const nothing = () => undefined;
  await shown(
    <IntakeContext value={{} as IntakeDesk}>
      <CausePage
        cause={cause}
        isWhole
        isCut={false}
        corrected={undefined}
        last={null}
        onShow={nothing}
        onFix={nothing}
      />
    </IntakeContext>,
  );
  await askOnceMore();
  await vi.waitFor(() => expect(by("cause-values")?.textContent).toContain("1227"));
  expect(by("read-again")).toBeNull();
});

it("does not take the views that were kept for none because they cannot be read just now", async () => {
  const kept = { ...EVERYTHING, name: "Masern", group: null };
  failingOnce("saved_views", { status: { room: "real" }, saved_views: [kept] });
  await shown(<SavedViews view={{ ...EVERYTHING, search: "x", group: null }} onUse={vi.fn()} />);
  await act(async () => by("views")?.click());
  await vi.waitFor(() => expect(document.body.textContent).toContain("Das Journal ist in Gebrauch"));
  await askOnceMore();
  await vi.waitFor(() => expect(document.querySelector('[role="menu"]')?.textContent).toContain("Masern"));
  expect(by("read-again")).toBeNull();
});

it("does not say that nothing can be done with what is chosen because it cannot be read just now", async () => {
  failingOnce("chosen", { chosen: { count: 2, actions: { withdraw: 2 }, drafts: {}, takenBack: [] } });
  const selection = { ids: new Set([1, 2]), clear: vi.fn() } as unknown as Selection;
  await shown(
    <IntakeContext value={{} as IntakeDesk}>
      <BulkBar selection={selection} total={2} hidden={0} onAll={vi.fn()} onDecided={vi.fn()} />
    </IntakeContext>,
  );
  await vi.waitFor(() => expect(by("bulk-bar")?.textContent).toContain("Das Journal ist in Gebrauch"));
  await askOnceMore();
  await vi.waitFor(() => expect(by("bulk-withdraw")).not.toBeNull());
  expect(by("read-again")).toBeNull();
});

it("lets somebody ask once more how far the reports are that were just sent", async () => {
  const view = { total: 1, byState: { completed: 1 }, completed: 1, closed: 0, moving: 0, causes: 0 };
  const batch = { ids: [7], sentAt: 1, rest: [], held: null };
  failingOnce("batch", { batch: { ...view, waiting: [], attention: [], undoUntil: null, secondsLeft: null } });
  await shown(
    <IntakeContext value={{ batch } as unknown as IntakeDesk}>
      <BatchBar onCertificate={() => undefined} />
    </IntakeContext>,
  );
  await askOnceMore();
  await vi.waitFor(() => expect(by("batch")?.dataset.phase).toBe("settled"));
  expect(by("read-again")).toBeNull();
});

it("does not say that no report matches because they cannot be read just now", async () => {
  failingOnce("list", { status: { room: "real" }, preferences: {}, list: { rows: [], next: null, total: 0 } });
  await shown(
    <IntakeContext value={{} as IntakeDesk}>
      <Palette onClose={vi.fn()} showSheet={vi.fn()} lock={vi.fn()} />
    </IntakeContext>,
  );
  const field = by("palette") as HTMLInputElement;
  await act(async () => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(field, "xyzzy");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await vi.waitFor(() => expect(by("read-again")).not.toBeNull());
  expect(document.body.textContent).not.toContain("Keine Treffer");
  await askOnceMore();
  await vi.waitFor(() => expect(document.body.textContent).toContain("Keine Treffer"));
});

it("shows no number of reports before one is known", async () => {
  const element = await shown(<GroupFilter group={null} counts={undefined} show={vi.fn()} />);
  expect(element.textContent).not.toMatch(/\d/);
});

it("does not take a cause for a new one because it cannot be read just now whether it came back", async () => {
  const report = {
    ...row(7, 7, 0),
    state: "failed" as const,
    group: "needs-attention" as const,
    message: UNKNOWN_CODE,
  };
  const answers = { endpoints: [], status: { room: "real" }, cause_fields: [], detail: null };
  const list = { rows: [report], next: null, total: 1 };
  failingOnce("came_back", { ...answers, list, came_back: [{ id: 7, corrected: "2026-11-01T08:00:00Z" }] });
  await shown(
    <IntakeContext value={{} as IntakeDesk}>
      <Correct open={null} />
    </IntakeContext>,
  );
  await askOnceMore();
  await vi.waitFor(() => expect(by("cause-regressed")).not.toBeNull());
  expect(by("read-again")).toBeNull();
});

const day = { date: "2026-11-01", byState: { completed: 3 } };
const statistics = { days: [day], before: {}, pace: null, causes: [], diseases: [], deadlines: null, oldestOpen: null };

it("does not leave the week before out without a word because it cannot be read just now", async () => {
  failingOnce("statistics", { statistics }, { days: SILENCE_DAYS });
  await shown(<Overview stating={false} />);
  await askOnceMore();
  await vi.waitFor(() => expect(by("overview-sentence")).not.toBeNull());
  await vi.waitFor(() => expect(by("read-again")).toBeNull());
});

it("does not leave the most urgent report out without a word because it cannot be read just now", async () => {
  const urgent = { ...row(7, 7, 0), due: "2026-11-01T08:00:00Z" };
  const heldUp = { ...statistics, causes: [{ message: UNKNOWN_CODE, state: "failed", count: 1 }] };
  failingOnce("list", { statistics: heldUp, list: { rows: [urgent], next: null, total: 1 } });
  await shown(<Overview stating={false} />);
  expect(by("next-deadline")).toBeNull();
  await askOnceMore();
  await vi.waitFor(() => expect(by("next-deadline")).not.toBeNull());
});

it("does not leave the test of the connection out without a word because no authority can be read just now", async () => {
  const used = { ...endpoint, inUse: true, url: "https://authority.example/fhir" };
  failingOnce("endpoints", { status: { room: "real" }, certificates: [], endpoints: [used] });
  await shown(<Certificate files={{ paths: [], turn: 0, choose: vi.fn() } as unknown as CertificateFiles} />);
  await askOnceMore();
  await vi.waitFor(() => expect(by("test-endpoint")).not.toBeNull());
});

it("does not leave the filter by deadline out without a word because deadlines cannot be read just now", async () => {
  const counts = { groups: {}, states: {}, laboratories: [], diseases: [], timeliness: {}, atLeast: false };
  failingOnce("deadlines", {
    status: { room: "real", counts: {}, notices: [] },
    endpoints: [],
    preferences: {},
    saved_views: [],
    unfinished_fixes: [],
    list: { rows: [], next: null, total: 0 },
    list_counts: { ...counts, choicesCounted: null },
    deadlines: { deadlines: [{ subject: "measles", hours: 24 }] },
  });
  await shown(
    <IntakeContext value={{} as IntakeDesk}>
      <Reports group={null} open={null} />
    </IntakeContext>,
  );
  await askOnceMore();
  await vi.waitFor(() => expect(by("filter-deadline")).not.toBeNull());
  expect(by("read-again")).toBeNull();
});
