// @vitest-environment jsdom
// Practice and the laboratory: which room a call speaks of, and what a change of rooms must not lead astray.

import { act } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { door } from "../src/bridge/tauri";
import { intakeReducer } from "../src/intake";
import { useMany } from "../src/parts/many";
import type { Many } from "../src/parts/many";
import { candidate } from "../src/bridge/mock/reports";
import { render } from "./render";

const { asked, core } = vi.hoisted(() => ({ asked: [] as [string, unknown][], core: { room: 0 } }));

vi.mock("@tauri-apps/api/core", () => ({
  invoke: async (command: string, takes?: unknown) => {
    asked.push([command, takes]);
    return command === "status" ? { room: core.room } : null;
  },
}));
vi.mock("@tauri-apps/api/event", () => ({ listen: async () => () => undefined }));
vi.mock("#door", async () => await import("../src/bridge/tauri"));

const enter = async (room: number) => {
  core.room = room;
  await door.call("status");
  asked.length = 0;
};

beforeEach(async () => await enter(3));

describe("a call", () => {
  it("says which room it speaks of, also where it names files or a text", async () => {
    await door.call("inspect_files", { paths: ["/a"], reveal: false });
    await door.call("hand_over", {
      items: [{ path: "/a" }],
      again: [],
      corrections: [],
      shown: null,
      left_out: [],
      beside: [],
      separate: false,
      endpoint: "e",
    });
    await door.call("withdraw", { id: 1, reason: "so" });
    expect(asked.map(([, takes]) => (takes as { room: number }).room)).toEqual([3, 3, 3]);
  });

  it("of several that belong together names the room of the first", async () => {
    const here = door.here();
    await here.call("resubmit", { id: 1 });
    await enter(4);
    await here.call("resubmit", { id: 2 });
    await door.call("resubmit", { id: 3 });
    expect(asked).toEqual([
      ["resubmit", { id: 2, room: 3 }],
      ["resubmit", { id: 3, room: 4 }],
    ]);
  });
});

describe("files that were chosen", () => {
  it("are not judged by a look of before they were taken away", () => {
    const paths = ["/a"];
    const first = intakeReducer({ sources: [], batch: null, taking: null }, { do: "choose", paths, look: 1 });
    const again = intakeReducer(intakeReducer(first, { do: "clear" }), { do: "choose", paths, look: 2 });
    const late = intakeReducer(again, { do: "found", path: "/a", look: 1, found: [candidate("a.json", 0)] });
    expect(late.sources[0]?.found).toBeUndefined();
    const now = intakeReducer(late, { do: "found", path: "/a", look: 2, found: [candidate("a.json", 0)] });
    expect(now.sources[0]?.found).toHaveLength(1);
  });
});

describe("what was taken off the list", () => {
  const found = [candidate("a.json", 0), { ...candidate("b.json", 1), digest: "b" }];
  const source = { path: "/all.zip", look: 1, chosen: 1, found };
  const all = { sources: [source, { path: "/c.json", look: 1, chosen: 1, found: [] }], batch: null, taking: null };

  it.each([undefined, "b"])("is back as it was before, and looked at again (%s)", (digest) => {
    const without = intakeReducer(all, { do: "leave-out", path: source.path, ...(digest && { digest }) });
    expect(without.sources[0]?.found?.length).toBe(digest ? 1 : 0);
    const back = intakeReducer(without, { do: "restore", source, look: 2 });
    expect(back.sources.map(({ path }) => path)).toEqual(["/all.zip", "/c.json"]);
    const looked = intakeReducer(back, { do: "found", path: source.path, look: 2, found });
    expect(looked.sources[0]?.found).toHaveLength(2);
  });
});

describe("one decision for many reports", () => {
  /** Renders it, and lets each call wait until the test lets it go. */
  async function begun() {
    const waiting: (() => void)[] = [];
    const ids: number[] = [];
    const onEnd = vi.fn();
    let many: Many | undefined;
    function Frame() {
      many = useMany(onEnd);
      return null;
    }
    await render(<Frame />);
    const goOn = () => act(async () => waiting.shift()?.());
    await act(async () =>
      many?.each([1, 2, 3], async (_here, id) => {
        ids.push(id);
        await new Promise<void>((done) => waiting.push(done));
      }),
    );
    return { ids, onEnd, goOn, stop: () => many?.stop() };
  }

  it("begins nothing further once it is cancelled", async () => {
    const { ids, onEnd, goOn, stop } = await begun();
    await goOn();
    expect(ids).toEqual([1, 2]);
    stop();
    await goOn();
    expect(ids).toEqual([1, 2]);
    expect(onEnd).toHaveBeenCalledOnce();
  });

  it("goes on to its end where nobody stops it", async () => {
    const { ids, onEnd, goOn } = await begun();
    for (const _ of [1, 2, 3]) await goOn();
    expect(ids).toEqual([1, 2, 3]);
    expect(onEnd).toHaveBeenCalledOnce();
  });
});
