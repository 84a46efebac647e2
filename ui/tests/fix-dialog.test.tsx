// @vitest-environment jsdom
// Fixing many at once: what the button says it does.

import { act } from "react";
import { expect, it, vi } from "vitest";

import { FixDialog } from "../src/parts/fix-dialog";
import { render } from "./render";

const FIELD = { path: "Observation.status", values: [{ value: "finnal", count: 2 }] };

const { failing } = vi.hoisted(() => ({ failing: [] as string[] }));

vi.mock("#door", () => ({
  door: {
    here: () => ({
      call: async (command: string, { ids }: { ids: number[] }) => {
        if (failing[0] === command) {
          failing.shift();
          throw { code: "journal-busy", params: {}, blame: "us", remedy: "retry", trace: "read" };
        }
        return command === "cause_fields"
          ? [FIELD]
          : { ready: ids.slice(0, 1), invalid: ids.slice(1), unchanged: [], example: [] };
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
