// @vitest-environment jsdom
// Fixing many at once: what the button says it does, and what is read aloud meanwhile.

import { act, useState } from "react";
import { afterEach, expect, it, vi } from "vitest";

import type { Caller } from "../src/bridge/door";
import type { UnfinishedFix } from "../src/bridge/generated/UnfinishedFix";
import { FixDialog } from "../src/parts/fix-dialog";
import { useRun } from "../src/parts/fix-run";
import type { Run } from "../src/parts/fix-run";
import { render } from "./render";

const FIELD = { path: "Observation.status", values: [{ value: "finnal", count: 2 }] };

const { failing, core } = vi.hoisted(() => ({
  failing: [] as string[],
  /** How many of the reports can be sent, and how often somebody has asked what became of those that were sent. */
  core: { ready: 1, looks: 0, sent: [] as number[], kept: undefined as UnfinishedFix | undefined },
}));

/** Corrections that are on their way: every fourth look finds one more of them completed. */
function batch(ids: number[]) {
  core.looks += 1;
  const completed = Math.min(ids.length, Math.floor(core.looks / 4));
  return { total: ids.length, completed, moving: ids.length - completed, attention: [], byState: {} };
}

vi.mock("#door", () => ({
  door: {
    here: () => ({
      call: async (command: string, { ids, id, fix }: { ids: number[]; id: number; fix: UnfinishedFix }) => {
        if (failing[0] === command) {
          failing.shift();
          throw { code: "journal-busy", params: {}, blame: "us", remedy: "retry", trace: "read" };
        }
        if (command === "cause_fields") return [FIELD];
        if (command === "fix") {
          core.sent.push(id);
          return { submissions: [100 + id] };
        }
        if (command === "keep_fix") {
          core.kept = fix;
          return null;
        }
        if (command === "batch") return batch(ids);
        return {
          ready: ids.slice(0, core.ready),
          invalid: ids.slice(core.ready),
          unchanged: [],
          edited: [],
          example: [],
        };
      },
    }),
  },
}));

// What the library needs of a browser.
vi.stubGlobal("CSS", { escape: (text: string) => text });

const first = () => document.querySelector<HTMLButtonElement>('[data-testid="fix-first"]');

async function type(value: string) {
  const field = document.querySelector<HTMLInputElement>('[data-testid="fix-replace"]');
  if (!field) throw new Error("no field");
  await act(async () => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(field, value);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

it("says that one of many goes first before it is known which can be sent", async () => {
  await render(<FixDialog ids={[1, 2]} onClose={() => undefined} />);
  expect(first()?.textContent).toBe("Send one first");
  expect(first()?.disabled).toBe(true);
  // Only one of them can be sent.
  await type("final");
  await vi.waitFor(() => expect(first()?.textContent).toBe("Send the correction"));
  expect(first()?.disabled).toBe(false);
});

it("says that it cannot be read just now, and asks once more, of what may be changed and of what a change does", async () => {
  failing.push("cause_fields", "fix_preview");
  await render(<FixDialog ids={[1, 2]} onClose={() => undefined} />);
  const again = () => document.querySelector<HTMLElement>('[data-testid="read-again"]');
  expect(again()).not.toBeNull();
  await act(async () => again()?.click());
  expect(again()).toBeNull();
  await type("final");
  await vi.waitFor(() => expect(again()).not.toBeNull());
  await act(async () => again()?.click());
  await vi.waitFor(() => expect(first()?.disabled).toBe(false));
  expect(again()).toBeNull();
});

it("says of a single report that its correction is sent", async () => {
  await render(<FixDialog ids={[1]} onClose={() => undefined} />);
  expect(first()?.textContent).toBe("Send the correction");
});

it("says how many are sent before it is left on the way, and goes on where that was not meant", async () => {
  Object.assign(core, { ready: 2, looks: 0 });
  const close = vi.fn();
  await render(<FixDialog ids={[1, 2]} onClose={close} />);
  await type("final");
  await vi.waitFor(() => expect(first()?.disabled).toBe(false));
  await act(async () => first()?.click());
  const press = (of: string) => act(async () => document.querySelector<HTMLElement>(of)?.click());
  await press('header [aria-label="Close"]');
  expect(document.querySelector('[role="alert"]')?.textContent).toBe(
    "1 is sent. Stop, and leave the others as they are?StopGo on",
  );
  await press('[data-testid="keep-editing"]');
  expect(document.querySelector('[role="alert"]')).toBeNull();
  expect(close).not.toHaveBeenCalled();
});

/** Notes from now on what changes in a live region: that is what is read aloud. */
function listen(): string[] {
  const said: string[] = [];
  const last = new Map<Element, string>();
  const look = (isNew: boolean) => {
    for (const region of document.querySelectorAll("[aria-live], [role='status']")) {
      const words = region.textContent ?? "";
      if (isNew && last.get(region) !== words && words !== "") said.push(words);
      last.set(region, words);
    }
  };
  look(false);
  const observer = new MutationObserver(() => look(true));
  observer.observe(document.body, { childList: true, subtree: true, characterData: true });
  ends.push(() => observer.disconnect());
  return said;
}

const ends: (() => void)[] = [];
afterEach(() => ends.splice(0).forEach((end) => end()));

it("says each phase once, however often its figures change", async () => {
  vi.useFakeTimers();
  ends.push(() => vi.useRealTimers());
  Object.assign(core, { ready: 6, looks: 0 });
  await render(<FixDialog ids={[1, 2, 3, 4, 5, 6]} onClose={() => undefined} />);
  const press = (of: string) => act(async () => document.querySelector<HTMLElement>(`[data-testid="${of}"]`)?.click());
  const progress = () => document.querySelector('[data-testid="fix-progress"]');
  /** Lets the time pass in which the dialog asks again. */
  const until = async (holds: () => boolean) => {
    for (let step = 0; step < 100 && !holds(); step += 1) await act(() => vi.advanceTimersByTimeAsync(100));
    expect(holds()).toBe(true);
  };
  const isIn = (phase: string) => () => progress()?.getAttribute("data-phase") === phase;
  await type("final");
  await until(() => first()?.disabled === false);
  const said = listen();
  await press("fix-first");
  await until(isIn("first-completed"));
  await press("fix-rest");
  const figures = new Set<string>();
  await until(() => {
    figures.add(progress()?.textContent ?? "");
    return isIn("done")();
  });
  expect(figures.size).toBeGreaterThan(4);
  expect(progress()?.textContent).toBe("All done: 6 completed");
  expect(said).toEqual([
    "One is on its way. Waiting for the authority’s answer …",
    "The first is completed. 5 are left.",
    "5 reports are being sent.",
    "All done: 6 completed",
  ]);
});

/** How long the authority takes for its verdict. */
const VERDICT_MS = 2_000;

it("begins nothing while it asks whether to stop, goes on where that was not meant, and asks no more once all are sent", async () => {
  vi.useFakeTimers();
  ends.push(() => vi.useRealTimers());
  Object.assign(core, { ready: 12, looks: 0, sent: [] });
  const close = vi.fn();
  const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
  await render(<FixDialog ids={ids} onClose={close} />);
  const press = (of: string) => act(async () => document.querySelector<HTMLElement>(of)?.click());
  const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
  const until = async (holds: () => boolean) => {
    for (let step = 0; step < 100 && !holds(); step += 1) await pass(100);
    expect(holds()).toBe(true);
  };
  const phase = () => document.querySelector('[data-testid="fix-progress"]')?.getAttribute("data-phase");
  const asked = () => document.querySelector('[role="alert"]')?.textContent;
  await type("final");
  await until(() => first()?.disabled === false);
  await press('[data-testid="fix-first"]');
  await until(() => phase() === "first-completed");
  await press('[data-testid="fix-rest"]');
  await until(() => core.sent.length > 1);
  await press('header [aria-label="Close"]');
  const sent = core.sent.length;
  expect(sent).toBeLessThan(6);
  expect(asked()).toContain(`${sent} are sent. Stop, and leave the others as they are?`);
  await pass(10_000);
  expect(core.sent).toHaveLength(sent);
  // The authority takes its time for the others.
  core.looks = 8;
  await press('[data-testid="keep-editing"]');
  await until(() => core.sent.length === 12);
  await pass(250);
  // Their verdicts are waited for; nothing can be stopped any more.
  expect(phase()).toBe("rest");
  expect(document.querySelector('[data-testid="fix-progress"]')?.textContent).toContain("All reports are sent.");
  await press('header [aria-label="Close"]');
  expect(asked()).toBeUndefined();
  expect(close).toHaveBeenCalledOnce();
});

it("what was stopped is kept, and taken up for those that are left without another trial", async () => {
  vi.useFakeTimers();
  ends.push(() => vi.useRealTimers());
  Object.assign(core, { ready: 6, looks: 0, sent: [] });
  const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
  const press = (of: string) => act(async () => document.querySelector<HTMLElement>(of)?.click());
  const until = async (holds: () => boolean) => {
    for (let step = 0; step < 100 && !holds(); step += 1) await pass(100);
    expect(holds()).toBe(true);
  };
  const progress = () => document.querySelector('[data-testid="fix-progress"]');
  const phase = () => progress()?.getAttribute("data-phase");
  core.kept = undefined;
  let show: (what: { ids: number[]; left?: UnfinishedFix | undefined }) => void = () => undefined;
  function Host() {
    const [open, setOpen] = useState<{ ids: number[]; left?: UnfinishedFix | undefined }>({ ids: [1, 2, 3, 4, 5, 6] });
    show = setOpen;
    return <FixDialog key={open.ids.length} {...open} onClose={() => undefined} />;
  }
  await render(<Host />);
  await type("final");
  await until(() => first()?.disabled === false);
  await press('[data-testid="fix-first"]');
  await until(() => phase() === "first-completed");
  // Whoever says “Not now” has tried it all the same.
  const kept = { path: FIELD.path, find: "finnal", replace: "final", sent: 1, rest: [2, 3, 4, 5, 6] };
  expect(core.kept).toEqual(kept);
  await press('[data-testid="fix-rest"]');
  await until(() => core.sent.length === 2);
  await press('[data-testid="fix-stop"]');
  await until(() => phase() === "stopped");
  expect(progress()?.textContent).toMatch(/^Stopped: /);
  expect(progress()?.querySelector("strong")?.className, "a wish of one's own is no error").not.toContain("bad");
  expect(progress()?.querySelector("progress")).toBeNull();
  expect(core.kept, "a wish of one's own").toEqual(kept);
  Object.assign(core, { looks: 0 });
  await act(async () => show({ ids: [3, 4, 5, 6], left: { ...kept, sent: 2, rest: [3, 4, 5, 6] } }));
  const rest = () => document.querySelector<HTMLButtonElement>('[data-testid="fix-rest"]');
  await until(() => rest()?.disabled === false);
  expect(rest()?.textContent).toBe("Send the 4 that are left");
  expect(first()).toBeNull();
  await press('[data-testid="fix-rest"]');
  await until(() => phase() === "done");
  expect(core.sent).toEqual([1, 2, 3, 4, 5, 6]);
});

/** A run of its own, against an authority with which the given corrections fail. */
async function running(fails: (id: number) => boolean) {
  vi.useFakeTimers();
  ends.push(() => vi.useRealTimers());
  const [sent, most] = [new Map<number, number>(), { onTheWay: 0, leap: 0 }];
  const isDue = (id: number) => Date.now() - (sent.get(id) ?? 0) >= VERDICT_MS;
  const count = (ids: number[], holds: (id: number) => boolean) => ids.filter(holds).length;
  const here = {
    async call(command: string, { ids = [], id = 0 }: { ids?: number[]; id?: number }) {
      if (command === "hold_back") return 0;
      if (command === "fix") {
        sent.set(id, Date.now());
        const all = [...sent.keys()];
        const onTheWay = count(all, (one) => !isDue(one));
        most.onTheWay = Math.max(most.onTheWay, onTheWay);
        most.leap = Math.max(
          most.leap,
          onTheWay /
            Math.max(
              1,
              count(all, (one) => isDue(one) && !fails(one)),
            ),
        );
        return { submissions: [id] };
      }
      const attention = ids.filter((one) => isDue(one) && fails(one));
      const completed = count(ids, (one) => isDue(one) && !fails(one));
      return { total: ids.length, completed, moving: count(ids, (one) => !isDue(one)), attention, byState: {} };
    },
  } as unknown as Caller;
  const now: { run: Run | undefined } = { run: undefined };
  const kept: number[][] = [];
  function Shown() {
    now.run = useRun(here, { path: "a", find: "b", replace: "c" }, (rest) => kept.push(rest));
    return null;
  }
  await render(<Shown />);
  const until = async (...phases: Run["phase"][]) => {
    const began = Date.now();
    while (!phases.includes(now.run?.phase ?? "none") && Date.now() - began < 600_000)
      await act(() => vi.advanceTimersByTimeAsync(250));
    expect(phases).toContain(now.run?.phase);
    return Date.now() - began;
  };
  await act(async () => now.run?.begin(1, others(199)));
  await until("first-completed");
  return { now, sent, most, until, kept };
}

const others = (n: number) => Array.from({ length: n }, (_, at) => at + 2);

it("a change that helps the first report and no other is stopped after two more, however many are left", async () => {
  const { now, sent, until, kept } = await running((id) => id > 1);
  await act(async () => now.run?.goOn(others(199)));
  await until("stopped", "done");
  expect(sent.size).toBe(3);
  expect(kept, "what has not helped is not taken up again").toEqual([others(199), []]);
  expect(now.run).toMatchObject({ phase: "stopped", completed: 1, failed: 2 });
});

it("two hundred are done within two minutes, and never are more on their way than were completed", async () => {
  const { now, sent, most, until } = await running(() => false);
  await act(async () => now.run?.goOn(others(199)));
  expect(await until("stopped", "done")).toBeLessThan(120_000);
  expect(now.run).toMatchObject({ phase: "done", completed: 200, failed: 0 });
  expect(sent.size).toBe(200);
  expect(most.leap).toBeLessThanOrEqual(1);
  expect(most.onTheWay).toBe(20);
});
