// Where other programs compile beside the tests, a second is not enough for a screen to come to rest. A wait that lasts longer
// costs time only where it fails.

import { vi } from "vitest";

const LONGEST = 20_000;
const waitFor = vi.waitFor.bind(vi);

vi.waitFor = (seen, options) =>
  waitFor(seen, typeof options === "number" ? options : { timeout: LONGEST, interval: 20, ...options });
