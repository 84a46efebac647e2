// @vitest-environment jsdom
// The support bundle as it is shown before it is saved.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { expect, it, vi } from "vitest";

import { createCache } from "../src/bridge/queries";
import { SupportDialog } from "../src/parts/support-dialog";
import { render } from "./render";

const { call } = vi.hoisted(() => ({ call: vi.fn() }));
vi.mock("#door", () => ({ door: { call } }));

// What the library needs of a browser.
vi.stubGlobal("CSS", { escape: (text: string) => text });

it("begins with what it holds, in the language of the window, and is asked for again where it failed", async () => {
  const problem = { code: "journal-busy", params: {}, blame: "us", remedy: "retry", trace: "support" };
  const files = [
    { name: "summary.txt", text: "Kein Patient." },
    { name: "program.json", text: "{}" },
  ];
  call.mockRejectedValueOnce(problem).mockResolvedValue(files);
  await render(
    <QueryClientProvider client={createCache()}>
      <SupportDialog onClose={() => undefined} />
    </QueryClientProvider>,
    "de",
  );
  const by = (id: string) => document.querySelectorAll<HTMLElement>(`[data-testid="${id}"]`);
  await vi.waitFor(() => expect(by("read-again")).toHaveLength(1));
  await act(async () => by("read-again")[0]?.click());
  await vi.waitFor(() => expect(by("support-file")).toHaveLength(2));
  const [first, second] = by("support-file");
  expect(first?.textContent).toBe("Kurz gesagt summary.txtKein Patient.");
  expect(second?.querySelector("h3")?.textContent).toBe("Programm und Computer program.json");
  expect(call).toHaveBeenLastCalledWith("support_preview", { language: "de" });
});
