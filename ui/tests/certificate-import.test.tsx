// @vitest-environment jsdom
// A certificate on its way into the window: what is said while it hovers, and a password that is wrong.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { expect, it, vi } from "vitest";

import { createCache } from "../src/bridge/queries";
import { DropVeil } from "../src/parts/drop";
import { CertificateImport } from "../src/screens/certificate-import";
import { render } from "./render";

vi.mock("#door", () => ({
  door: {
    call: async (command: string) => {
      if (command === "certificate_inspect")
        throw { code: "certificate-wrong-password", params: {}, blame: "input", remedy: "correct", trace: "" };
      return command === "status" ? { counts: {}, notices: [] } : [];
    },
  },
}));

it("what hovers over the certificates is stored, and not sent", async () => {
  const said = async (kind: "certificate" | "send") => (await render(<DropVeil target={{ kind }} />)).textContent;
  expect(await said("certificate")).toContain("Nothing is stored yet.");
  expect(await said("send")).toContain("Nothing is sent yet.");
});

it("a wrong password is marked, so that the next key begins anew", async () => {
  const nothing = () => undefined;
  const files = { paths: ["/a.p12"], turn: 1, offer: nothing, choose: nothing, clear: nothing };
  const element = await render(
    <QueryClientProvider client={createCache()}>
      <CertificateImport files={files} />
    </QueryClientProvider>,
  );
  // First it is looked at without one.
  const field = await vi.waitFor(() => {
    const found = element.querySelector<HTMLInputElement>('[data-testid="certificate-password"]');
    if (!found) throw new Error("no field");
    return found;
  });
  await act(async () => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(field, "secret");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  expect(field.selectionStart).toBe(field.selectionEnd);
  await act(async () => element.querySelector<HTMLElement>('[data-testid="certificate-inspect"]')?.click());
  await vi.waitFor(() => expect([field.selectionStart, field.selectionEnd]).toEqual([0, 6]));
  expect(document.activeElement).toBe(field);
});
