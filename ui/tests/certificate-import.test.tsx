// @vitest-environment jsdom
// A certificate on its way into the window: what is said while it hovers, and a password that is wrong.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { expect, it, vi } from "vitest";

import { createCache } from "../src/bridge/queries";
import { DropVeil } from "../src/parts/drop";
import { CertificateImport } from "../src/screens/certificate-import";
import { render } from "./render";

const CERTIFICATE = {
  subject: "CN=Labor",
  issuer: "CN=CA",
  serial: "5A:0F",
  notBefore: "2026-04-13T08:00:00Z",
  notAfter: "2999-04-13T08:00:00Z",
  daysLeft: 143,
  daysAhead: 0,
  fingerprint: "3B:9A",
  keyType: "EC P-256",
  purposes: ["clientAuth"],
  clientAuth: true,
};

vi.mock("#door", () => ({
  door: {
    call: async (command: string, takes?: { paths: string[] }) => {
      if (command === "certificate_inspect" && takes?.paths.includes("/bare.pem")) return CERTIFICATE;
      if (command === "certificate_inspect" && takes?.paths.includes("/ca.pem"))
        throw {
          code: "certificate-ca-without-key",
          params: {},
          blame: "input",
          remedy: "choose-other-file",
          trace: "",
        };
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

it("the file of a CA is handed on, and offered no longer", async () => {
  const clear = vi.fn();
  const nothing = () => undefined;
  const element = await render(
    <QueryClientProvider client={createCache()}>
      <CertificateImport files={{ paths: ["/ca.pem"], turn: 1, offer: nothing, choose: nothing, clear }} />
    </QueryClientProvider>,
  );
  const button = () => element.querySelector<HTMLElement>('[data-testid="use-as-ca"]');
  await vi.waitFor(() => expect(button()).not.toBeNull());
  await act(async () => button()?.click());
  expect(clear).toHaveBeenCalledOnce();
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

it.each([
  ["what is found without a password", "/bare.pem", "certificate-confirm"],
  ["what is the certificate of a CA", "/ca.pem", "use-as-ca"],
])("%s has the keyboard on what comes next", async (_, path, next) => {
  const nothing = () => undefined;
  const element = await render(
    <QueryClientProvider client={createCache()}>
      <CertificateImport files={{ paths: [path], turn: 1, offer: nothing, choose: nothing, clear: nothing }} />
    </QueryClientProvider>,
  );
  const button = () => element.querySelector(`[data-testid="${next}"]`);
  await vi.waitFor(() => expect(button()).not.toBeNull());
  await vi.waitFor(() => expect(document.activeElement).toBe(button()));
});
