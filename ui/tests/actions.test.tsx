// @vitest-environment jsdom
// What can be done in a bar, where the window is narrow: what is under way cannot be pressed, and looks like it.

import { act } from "react";
import { expect, it, vi } from "vitest";

import { Actions } from "../src/kit/actions";
import { render } from "./render";

// The library of the menus asks for it.
vi.stubGlobal("CSS", { escape: (text: string) => text });

it("what is under way is no choice of the menu, and the rest is", async () => {
  const [pause, show] = [vi.fn(), vi.fn()];
  const element = await render(
    <Actions
      actions={[
        { id: "pause", word: "Pause", isPending: true, press: pause },
        { id: "show", word: "Show", press: show },
      ]}
      first={undefined}
    />,
  );
  await act(async () => element.querySelector<HTMLElement>('[data-testid="more-actions"]')?.click());
  const items = [...document.querySelectorAll<HTMLElement>("[role=menuitem]")];
  expect(items.map((item) => [item.textContent, item.ariaDisabled ?? item.getAttribute("aria-disabled")])).toEqual([
    ["Pause", "true"],
    ["Show", null],
  ]);
  for (const item of items) await act(async () => item.click());
  expect(pause).not.toHaveBeenCalled();
  expect(show).toHaveBeenCalledOnce();
});
