// @vitest-environment jsdom
// Send: what stands beside the button that sends.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { expect, it, vi } from "vitest";

import { candidate } from "../src/bridge/mock/reports";
import { createCache } from "../src/bridge/queries";
import { IntakeContext } from "../src/intake";
import type { IntakeDesk } from "../src/intake";
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
