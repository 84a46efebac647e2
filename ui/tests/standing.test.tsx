// @vitest-environment jsdom
// What holds the queue, above every screen.

import { QueryClientProvider } from "@tanstack/react-query";
import { expect, it } from "vitest";

import type { Problem } from "../src/bridge/generated/Problem";
import type { StatusView } from "../src/bridge/generated/StatusView";
import { createCache } from "../src/bridge/queries";
import { Elsewhere, Standing } from "../src/parts/standing";
import { render } from "./render";

const problem: Problem = { code: "connect-refused", params: {}, blame: "network", remedy: "retry", trace: "" };

it("offers nobody to try now what is tried again by itself, where no button would do it", async () => {
  const counts = { byState: { queued: 3 }, inProgress: 3 };
  const known = { connection: "unreachable", problem, notices: [], elsewhere: [], laboratory: null, paused: false };
  const element = await render(
    <QueryClientProvider client={createCache()}>
      <Standing status={{ ...known, counts } as unknown as StatusView} />
      <Elsewhere
        waiting={{ endpoint: "canton", environment: "production", count: 2, connection: "unreachable", problem }}
      />
    </QueryClientProvider>,
  );
  expect(element.querySelectorAll('[role="alert"]')).toHaveLength(2);
  expect(element.textContent).toContain("It is tried again by itself.");
  expect(element.textContent).not.toContain("try again now");
});
