// @vitest-environment jsdom
// Send: what stands beside the button that sends, and what is read aloud while files are looked at.

import { QueryClientProvider } from "@tanstack/react-query";
import { act, useState } from "react";
import { expect, it, vi } from "vitest";

import { candidate } from "../src/bridge/mock/reports";
import { createCache } from "../src/bridge/queries";
import { IntakeContext } from "../src/intake";
import type { IntakeDesk, Source } from "../src/intake";
import { Send } from "../src/screens/send";
import { render } from "./render";

it.each([true, false])("the switch of names shows and masks them (shown: %s)", async (reveal) => {
  const setReveal = vi.fn();
  const sources = [{ path: "/a.json", look: 1, chosen: 1, found: [candidate("a.json", 0)] }];
  const element = await render(
    <QueryClientProvider client={createCache()}>
      <IntakeContext value={{ sources } as unknown as IntakeDesk}>
        <Send onCertificate={() => undefined} />
      </IntakeContext>
    </QueryClientProvider>,
    "en",
    { reveal, setReveal },
  );
  const masked = element.querySelector<HTMLInputElement>('[data-testid="send-masked"] [role="switch"]');
  expect(masked?.checked).toBe(!reveal);
  await act(async () => masked?.click());
  expect(setReveal).toHaveBeenCalledWith(!reveal);
});

it("says once that files are looked at and once what came of it, and counts down in silence", async () => {
  const found = (at: number) => [candidate(`${at}.json`, at)];
  const files = (done: number): Source[] =>
    Array.from({ length: 5 }, (_, at) => ({
      path: `/${at}.json`,
      look: 1,
      chosen: 1,
      found: at < done ? found(at) : undefined,
    }));
  let have: (sources: Source[]) => void = () => undefined;
  function Host() {
    const [sources, setSources] = useState<Source[]>([]);
    have = setSources;
    return (
      <IntakeContext value={{ sources } as unknown as IntakeDesk}>
        <Send onCertificate={() => undefined} />
      </IntakeContext>
    );
  }
  const element = await render(
    <QueryClientProvider client={createCache()}>
      <Host />
    </QueryClientProvider>,
  );
  // What is live before there is a list; what comes with its words is not read.
  const regions = [...element.querySelectorAll("[aria-live], [role='status']")];
  const words = () =>
    regions
      .filter((region) => region.isConnected)
      .map((region) => region.textContent)
      .join("");
  const said: string[] = [];
  for (const done of [0, 1, 2, 3, 4, 5]) {
    await act(async () => have(files(done)));
    expect(element.querySelectorAll("footer [aria-live]")).toHaveLength(0);
    if (said.at(-1) !== words()) said.push(words());
  }
  expect(said[0]).toBe("Looking at 5 files …");
  expect(said[1]).toMatch(/^\d reports? can be sent\./);
  expect(said).toHaveLength(2);
});
