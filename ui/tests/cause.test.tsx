// @vitest-environment jsdom
// The page of a cause: what it says of the reports while names are hidden.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { expect, it, vi } from "vitest";

import { detail } from "../src/bridge/mock/detail";
import { UNKNOWN_CODE } from "../src/bridge/mock/messages";
import { row } from "../src/bridge/mock/reports";
import { createCache } from "../src/bridge/queries";
import { causesOf } from "../src/causes";
import { IntakeContext } from "../src/intake";
import type { IntakeDesk } from "../src/intake";
import { CausePage } from "../src/screens/cause";
import { render } from "./render";

const SAID = "The patient whose family name is Muster-Fehler was refused.";
const REPORT = { ...row(7, 7, 0), state: "failed" as const, message: { ...UNKNOWN_CODE, text: SAID } };
const { answer } = vi.hoisted(() => ({ answer: {} as { detail: Promise<unknown> } }));

vi.mock("#door", () => ({
  door: { call: async (command: string) => (command === "detail" ? await answer.detail : []) },
}));

async function page(reveal: boolean) {
  const [cause] = causesOf([REPORT]);
  if (!cause) throw new Error("no cause");
  const nothing = () => undefined;
  return await render(
    <QueryClientProvider client={createCache()}>
      <IntakeContext value={{} as IntakeDesk}>
        <CausePage
          cause={cause}
          isWhole
          isCut={false}
          corrected={undefined}
          last={null}
          onShow={nothing}
          onFix={nothing}
        />
      </IntakeContext>
    </QueryClientProvider>,
    "en",
    { reveal },
  );
}

it("hides the patient's name in the authority's words, and shows none before it is known whom they name", async () => {
  const whole = detail(REPORT, "Muster-Fehler, Mia");
  let told: (view: unknown) => void = () => undefined;
  answer.detail = new Promise((resolve) => (told = resolve));
  const element = await page(false);
  expect(element.querySelector('p[lang=""]')).toBeNull();
  await act(async () => told(whole));
  await vi.waitFor(() => expect(element.querySelector('p[lang=""]')).not.toBeNull());
  const words = element.querySelector('p[lang=""]')?.textContent;
  expect(words).toBe("The patient whose family name is M…-F… was refused.");
});

it("shows the words as they are where names are shown", async () => {
  answer.detail = Promise.resolve(null);
  expect((await page(true)).querySelector('p[lang=""]')?.textContent).toBe(SAID);
});
