// @vitest-environment jsdom
// What is asked again after a command.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { expect, it, vi } from "vitest";

import { createCache, useCommand, useUpdates } from "../src/bridge/queries";
import { render } from "./render";

const { call } = vi.hoisted(() => ({ call: vi.fn() }));
vi.mock("#door", () => ({ door: { call } }));

function Host() {
  const updates = useUpdates();
  const choose = useCommand("set_updates");
  return (
    <>
      <p>{updates.data?.state}</p>
      <button onClick={() => choose.mutate({ on: false })} />
    </>
  );
}

it.each([
  ["audit-not-written", "switched-off"],
  ["administration-closed", "ready"],
])("%s: what is shown is %s", async (code, shown) => {
  let state = "ready";
  call.mockImplementation(async (command: string) => {
    if (command === "updates") return { state };
    // Where it only could not be noted it was done; else nothing is asked for that would show this.
    state = "switched-off";
    throw { code, params: {}, blame: "you", remedy: "allow-writing", trace: "audit" };
  });
  const element = await render(
    <QueryClientProvider client={createCache()}>
      <Host />
    </QueryClientProvider>,
  );
  await vi.waitFor(() => expect(element.textContent).toBe("ready"));
  await act(async () => element.querySelector("button")?.click());
  await vi.waitFor(() => expect(element.textContent).toBe(shown));
});
