// @vitest-environment jsdom
// A dialog that asks before what was typed is lost.

import { act, useState } from "react";
import { expect, it, vi } from "vitest";

import { TextField } from "../src/kit/controls";
import { Dialog } from "../src/kit/dialog";
import { render } from "./render";

vi.mock("#door", () => ({ door: { call: async () => null } }));
vi.stubGlobal("CSS", { escape: (text: string) => text });

function Typed() {
  const [value, setValue] = useState("typed");
  return (
    <Dialog title="A form" isDirty onClose={() => undefined}>
      <TextField label="First" value="" onChange={() => undefined} />
      <TextField label="Second" value={value} onChange={setValue} data-testid="second" />
    </Dialog>
  );
}

it("whoever goes on is in the field in which they were, so that the next key asks nothing", async () => {
  await render(<Typed />);
  const field = document.querySelector<HTMLElement>('[data-testid="second"]');
  await act(async () => field?.focus());
  const press = (of: string) =>
    act(async () => {
      const button = document.querySelector<HTMLElement>(of);
      button?.focus();
      button?.click();
    });
  await press('header [aria-label="Close"]');
  await press('[data-testid="keep-editing"]');
  await vi.waitFor(() => expect(document.activeElement).toBe(field));
});
