// @vitest-environment jsdom
// The laboratory that was in use is closed after a start: nothing shows practice, and what is named for it stays.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import type { ReactNode } from "react";
import { beforeEach, expect, it, vi } from "vitest";

import type { StatusView } from "../src/bridge/generated/StatusView";
import { candidate } from "../src/bridge/mock/reports";
import { createCache } from "../src/bridge/queries";
import { IntakeContext } from "../src/intake";
import type { IntakeDesk } from "../src/intake";
import { EnvironmentBar } from "../src/parts/environment-bar";
import { ClosedScreen } from "../src/parts/closed";
import { Rail } from "../src/parts/rail";
import { Standing } from "../src/parts/standing";
import { Send } from "../src/screens/send";
import { render } from "./render";

const { core } = vi.hoisted(() => ({ core: { status: {} as object } }));
vi.mock("#door", async () => {
  const { createMock } = await import("../src/bridge/mock/core");
  const made = createMock({ rows: 1, sealed: true });
  const answer = made.call as (command: string, takes?: unknown) => Promise<object>;
  const door = {
    ...made,
    call: async (command: string, takes?: unknown) =>
      command === "status" ? { ...(await answer(command)), ...core.status } : await answer(command, takes),
    here: () => door,
  };
  return { door };
});
// The library of the dialogs asks for it.
vi.stubGlobal("CSS", { escape: (text: string) => text });

const problem = { code: "passphrase-needed", params: {}, blame: "you", remedy: "enter-password", trace: "" };
const SEALED = {
  environment: "practice",
  endpoint: "",
  connection: "unchecked",
  problem,
  laboratory: { needsAttention: 0, notices: 0, paused: false, closed: true },
  certificate: null,
  waitingCertificate: null,
  notices: [],
  elsewhere: [],
  paused: false,
  counts: { byState: {}, needsAttention: 0, inProgress: 0, completed: 0, closed: 0 },
} as unknown as StatusView;
const OTHER = { ...SEALED, problem: { ...problem, code: "keychain-locked" } } as StatusView;

const sources = [{ path: "/a.json", look: 1, chosen: 1, found: [candidate("a.json", 0)] }];
const shown = (node: ReactNode) =>
  render(
    <QueryClientProvider client={createCache()}>
      <IntakeContext value={{ sources } as unknown as IntakeDesk}>{node}</IntakeContext>
    </QueryClientProvider>,
  );
const by = (id: string) => document.querySelector<HTMLElement>(`[data-testid="${id}"]`);

beforeEach(() => {
  core.status = {};
  document.body.replaceChildren();
});

it.each([
  [SEALED, "Sealed", "Enter the laboratory’s passphrase."],
  [OTHER, "Laboratory not open", "Nothing is sent until it opens."],
])("the bar and the rail say that it is closed, and nothing of practice", async (status, word, more) => {
  const bar = await shown(<EnvironmentBar status={status} />);
  expect(bar.textContent).toBe(word + more);
  const rail = await shown(<Rail status={status} showHelp={() => undefined} lock={() => undefined} />);
  expect(rail.textContent).toContain(`${word}ConnectionNothing is sent`);
  expect(rail.textContent).not.toMatch(/Practice|Not checked/);
});

it("a screen of the laboratory says that it is sealed, not that there is nothing", async () => {
  const element = await shown(<ClosedScreen of="reports" closed="sealed" />);
  expect(element.textContent).toContain("journal and certificate are still sealed");
  expect(element.textContent).toContain("Enter the passphrase to see what is here.");
});

it("Send keeps the list, asks for the passphrase and counts nothing as ready", async () => {
  const element = await shown(<Send onCertificate={() => undefined} />);
  await vi.waitFor(() => expect(by("send-open")?.textContent).toBe("Enter the passphrase"));
  expect(by("send-button")).toBeNull();
  expect(element.querySelector("footer")?.textContent).toContain("The list stays");
  expect(element.textContent).not.toContain("can be sent");
  await act(async () => by("send-open")?.click());
  expect(by("vault-passphrase")).not.toBeNull();
  // Nobody is held in a question.
  expect([...document.querySelectorAll("[role=dialog] footer button")].map((one) => one.textContent)).toEqual([
    "Cancel",
    "Open",
  ]);
});

it("where the authority in use was removed, that is said, and the way leads to adding one", async () => {
  core.status = { environment: "integration", endpoint: "", laboratory: null, problem: null };
  const status = {
    ...SEALED,
    ...core.status,
    connection: "locked",
    problem: { ...problem, code: "no-endpoint" },
  } as StatusView;
  const rail = await shown(<Rail status={status} showHelp={() => undefined} lock={() => undefined} />);
  expect(rail.textContent).toContain("No authority");
  expect(rail.textContent).not.toContain("Access refused");
  await shown(<Standing status={status} />);
  expect(by("standing-add-endpoint")?.textContent).toBe("Add an authority");
  const send = await shown(<Send onCertificate={() => undefined} />);
  await vi.waitFor(() => expect(send.textContent).toContain("There is no authority to send to"));
  expect(by("send-button")).toHaveProperty("disabled", true);
  expect(send.textContent).not.toContain("can be sent");
});
