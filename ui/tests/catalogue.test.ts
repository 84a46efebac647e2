import { compileMessageOrThrow } from "@lingui/message-utils/compileMessage";
import { describe, expect, it } from "vitest";

import { completeCatalogue, readCatalogue } from "../build/catalogues";
import { LANGUAGES } from "../src/i18n/text";
import { STATES } from "../src/parts/state";
import { codes, said } from "./codes";

const catalogues = new Map(LANGUAGES.map(({ code }) => [code, readCatalogue(code)]));
const english = catalogues.get("en") ?? new Map<string, string>();

/** Names of the arguments of a message. */
function argumentsOf(text: string): Set<string> {
  const found = new Set<string>();
  const walk = (part: unknown): void => {
    if (Array.isArray(part)) {
      const [name] = part as unknown[];
      if (typeof name === "string") found.add(name);
      part.slice(1).forEach((inner) => typeof inner === "object" && inner !== null && walkChoices(inner));
    }
  };
  const walkChoices = (choices: object) =>
    Object.values(choices).forEach((choice) => Array.isArray(choice) && choice.forEach(walk));
  (compileMessageOrThrow(text) as unknown[]).forEach(walk);
  return found;
}

describe.each(LANGUAGES.map(({ code }) => code))("catalogue %s", (language) => {
  const messages = catalogues.get(language) ?? new Map<string, string>();

  it("fails the build where a text is missing, or is one of nothing", () => {
    expect(completeCatalogue(language, english).size).toBe(english.size);
    const [first = ""] = english.keys();
    const fewer = new Map([...english].slice(1));
    expect(() => completeCatalogue(language, new Map([...english, ["state.odd", "Odd"]]))).toThrow(
      `${language}: no text for state.odd`,
    );
    expect(() => completeCatalogue(language, fewer)).toThrow(first);
  });

  it("has texts that can be read, with the same arguments", () => {
    for (const [id, text] of messages) {
      expect(text.trim(), id).not.toBe("");
      expect(argumentsOf(text), id).toEqual(argumentsOf(english.get(id) ?? ""));
    }
  });

  it("is written as in Switzerland", () => {
    for (const [id, text] of messages) expect(text, id).not.toContain("ß");
  });

  it.runIf(language === "de")("has one word for the authority, and the quotation marks of Switzerland", () => {
    for (const [id, text] of messages) expect(text, id).not.toMatch(/Meldestelle|[„“"]/);
  });

  it.runIf(language === "fr")("has the narrow and the wide no-break space where French sets them", () => {
    for (const [id, text] of messages) {
      expect(text, id).not.toMatch(
        /(?<!urn:uuid)(?<!\u00a0):(\s|$)|(?<!\u202f)[;?!](\s|\}|$)|«(?!\u202f)|(?<!\u202f)»/u,
      );
      expect(text, id).not.toMatch(/terminaison|courriel/);
    }
  });

  it.runIf(language === "it")(
    "says Lei, and has one word for a report, an identifier, the journal and the support",
    () => {
      const familiar =
        /(?<!\p{L})(voi|vostr[oaie]|(indic|precis|confront|import|verific|esport)ate(?= (il|la|le|con|di|che))|(correg|scegl|rimuov|aggiung|chied|mett)(g?e|ie)te)(?!\p{L})/iu;
      for (const [id, text] of messages) {
        expect(text, id).not.toMatch(familiar);
        expect(text, id).not.toMatch(/(?<!\p{L})(identificator[ei]|giornale)(?!\p{L})|supporto del/iu);
        if (!id.startsWith("settings.notif")) expect(text, id).not.toMatch(/notific[ah]/i);
      }
    },
  );

  // What a person has decided is not what the authority has done, also where it is settled by their word.
  it("says that a report is completed only of what the authority has completed", () => {
    const completed = messages.get("state.completed")?.toLowerCase() ?? "";
    const decided = new Map([...messages].filter(([id]) => id.startsWith("done.")));
    for (const [id, text] of [...decided, ...said(language, /^say\.(said|still|held|withdrawn|released)/)]) {
      expect(text.toLowerCase(), id).not.toContain(completed);
    }
  });

  // What is in `texts` has a text for every code: else the command line does not compile.
  it.each([
    ["remedy", codes("Remedy")],
    ["action", codes("Action")],
    ["field", codes("FieldKey")],
    ["section", codes("SectionResource")],
  ])("has a text for every %s of the core", (family, all) => {
    for (const code of all) expect(messages.has(`${family}.${code}`), `${language}: ${family}.${code}`).toBe(true);
  });
});

describe("states", () => {
  it("have an icon each of its own", () => {
    const icons = Object.values(STATES).map(({ icon }) => icon);
    expect(new Set(icons).size).toBe(icons.length);
  });
});
