// @vitest-environment jsdom
// The files of the watched folder: named in the settings, told in red only where files are handed over.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { expect, it, vi } from "vitest";

import type { MessageView } from "../src/bridge/generated/MessageView";
import type { StatusView } from "../src/bridge/generated/StatusView";
import type { WatchedFilesView } from "../src/bridge/generated/WatchedFilesView";
import { createCache } from "../src/bridge/queries";
import { Standing } from "../src/parts/standing";
import { WatchedFiles } from "../src/parts/watched-files";
import { HOME } from "../src/place";
import type { Place } from "../src/place";
import { render } from "./render";

const message: MessageView = {
  source: "local",
  severity: "error",
  code: "file-empty",
  rule: null,
  text: null,
  params: {},
  section: null,
  field: null,
  path: null,
  expression: null,
  line: null,
  column: null,
  found: null,
  suggestion: null,
};

const files: WatchedFilesView = {
  refusedCount: 103,
  refused: [{ file: "Befund 4711.json", changed: "2026-11-20T07:12:00Z", message }],
  taken: [{ file: "befund-4712.json", at: "2026-11-20T07:13:00Z", id: 12, state: "completed" }],
};

vi.mock("#door", () => {
  const call = (command: string) =>
    Promise.resolve(command === "status" ? { room: 1 } : command === "watched_files" ? files : null);
  return { door: { call, here: () => ({ call }), listen: () => () => undefined } };
});

const cached = (node: React.ReactNode) => <QueryClientProvider client={createCache()}>{node}</QueryClientProvider>;

it("names each refused file with why, when and what to do, and the reports that came from the folder", async () => {
  const went: Place[] = [];
  const element = await render(cached(<WatchedFiles />), "en", { go: (place) => went.push(place) });
  await act(() => vi.waitFor(() => expect(element.querySelector("details")).not.toBeNull()));
  const refused = element.querySelector('[data-testid="watched-refused"]')?.textContent ?? "";
  for (const said of ["103 files", "Befund 4711.json", "The file is empty.", "Export the report again.", "102 older"]) {
    expect(refused).toContain(said);
  }
  const taken = element.querySelector('[data-testid="watched-taken"]');
  expect(taken?.textContent).toContain("befund-4712.json");
  act(() => taken?.querySelector("button")?.click());
  expect(went).toEqual([{ screen: "reports", group: null, open: 12 }]);
});

it.each([
  ["send", true],
  ["overview", true],
  ["reports", false],
  ["correct", false],
  ["settings", false],
] as const)("tells of refused files on the screen %s: %s", async (screen, isTold) => {
  const params = { count: "2", file: "Befund 4711.pdf", folder: "/out", kind: "pdf", reason: "not-a-report" };
  const problem = { code: "watched-files-refused", params, blame: "file", remedy: "mend-file", trace: "" };
  const status = {
    connection: "connected",
    problem: null,
    notices: [{ problem, at: "2026-11-20T07:12:00Z" }],
    elsewhere: [],
    laboratory: null,
    paused: false,
    counts: { byState: {}, inProgress: 0 },
  };
  const went: Place[] = [];
  const element = await render(cached(<Standing status={status as unknown as StatusView} />), "en", {
    place: HOME[screen],
    go: (place) => went.push(place),
  });
  const show = element.querySelector<HTMLButtonElement>('[data-testid="show-refused"]');
  expect(element.querySelectorAll('[role="alert"]')).toHaveLength(isTold ? 1 : 0);
  expect(show !== null).toBe(isTold);
  if (show) act(() => show.click());
  expect(went).toEqual(isTold ? [{ screen: "settings", files: true }] : []);
});
