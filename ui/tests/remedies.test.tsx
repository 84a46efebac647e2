// @vitest-environment jsdom
// What is to be done about a problem: about this very problem, and not about a report that nobody has opened.

import { QueryClientProvider } from "@tanstack/react-query";
import { expect, it, vi } from "vitest";

import { createCache } from "../src/bridge/queries";
import type { ProblemCode } from "../src/bridge/generated/ProblemCode";
import type { Remedy } from "../src/bridge/generated/Remedy";
import { LANGUAGES, loadWords } from "../src/i18n/text";
import { ProblemNote } from "../src/kit/notes";
import { PassphraseDialog } from "../src/parts/passphrase-dialog";
import { render } from "./render";

vi.mock("#door", () => ({ door: { call: async () => null } }));

// The library of the dialogs asks for it.
vi.stubGlobal("CSS", { escape: (text: string) => text });

const LANGUAGE = LANGUAGES.map(({ code }) => code);
const PARAMS = { name: "Pilot", open: "2", all: "3", endpoints: "Pilot", fingerprint: "AB", limit: "9" };

const WRONG: ProblemCode[] = ["certificate-wrong-password", "wrong-passphrase", "unlock-refused"];
const ABOUT_NO_REPORT: ProblemCode[] = [
  "certificate-needed",
  "endpoint-has-reports",
  "endpoint-in-use",
  "endpoint-needed",
  "too-many-certificates",
  "unknown-certificate",
];

const noteOf = async (code: ProblemCode, remedy: Remedy, language: (typeof LANGUAGE)[number]) => {
  const problem = { code, params: PARAMS, blame: "you" as const, remedy, trace: "" };
  return (await render(<ProblemNote problem={problem} />, language)).textContent ?? "";
};

/** What is to be done about this very problem: a sentence, and not the name of something. */
async function nextOf(code: ProblemCode, language: (typeof LANGUAGE)[number]): Promise<string> {
  const next = (await loadWords(language)).text.code(`next.${code}`, PARAMS) ?? "–";
  expect(next, code).toMatch(/^\p{Lu}.*\s.*\.$/u);
  return next;
}

it.each(LANGUAGE)("a passphrase that is wrong is to be entered again, in %s", async (language) => {
  const first = (await loadWords(language)).text.code("remedy.enter-password") ?? "–";
  for (const code of WRONG) {
    const said = await noteOf(code, "enter-password", language);
    expect(said, code).toContain(await nextOf(code, language));
    expect(said, code).not.toContain(first);
  }
  expect(await noteOf("certificate-password-needed", "enter-password", language)).toContain(first);
});

it.each(LANGUAGE)("an authority or a certificate is no report to look at again, in %s", async (language) => {
  const again = (await loadWords(language)).text.code("remedy.look-again") ?? "–";
  for (const code of ABOUT_NO_REPORT) {
    const said = await noteOf(code, "look-again", language);
    expect(said, code).toContain(await nextOf(code, language));
    expect(said, code).not.toContain(again);
  }
});

it.each(LANGUAGE)("a dialog says whose passphrase is chosen, in %s", async (language) => {
  const titles = new Set<string>();
  for (const of of ["lock", "administration"] as const) {
    for (const hasOne of [false, true]) {
      await render(
        <QueryClientProvider client={createCache()}>
          <PassphraseDialog of={of} hasOne={hasOne} onClose={() => undefined} />
        </QueryClientProvider>,
        language,
      );
      titles.add([...document.querySelectorAll("h2")].at(-1)?.textContent ?? "");
    }
  }
  expect(titles.size).toBe(4);
});
