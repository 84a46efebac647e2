// A laboratory on a computer without a keychain, set up as the window does.

import { readFileSync } from "node:fs";

import { authority } from "./window";
import type { Core } from "./window";

/** What opens it. */
export const PASSPHRASE = "korrekt pferd batterie";

/** A laboratory with an authority and its certificate, under each of these names; practice stays in use. */
export async function laboratory(core: Core, ...names: [string, ...string[]]) {
  await core.call("protect_with_passphrase", { passphrase: PASSPHRASE });
  const made = await authority(core);
  for (const name of names) {
    const input = {
      name,
      baseUrl: made.base,
      environment: "integration" as const,
      release: null,
      language: null,
      proxy: null,
    };
    await core.call("add_endpoint", { input: { ...input, caPem: readFileSync(made.ca, "utf8") } });
  }
  await fetch(`${core.address}/host/grant`, { method: "POST", body: JSON.stringify([made.p12]) });
  await core.call("certificate_import", { paths: [made.p12], password: made.password, endpoint: names[0] });
  return made;
}
