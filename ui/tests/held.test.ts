// What is said of a report on hold, before a person sends it with one press.

import { describe, expect, it } from "vitest";

import { readCatalogue } from "../build/catalogues";
import type { DetailView } from "../src/bridge/generated/DetailView";
import type { MessageView } from "../src/bridge/generated/MessageView";
import { heldAs } from "../src/parts/held";

const message = (code: string) => ({ code }) as MessageView;

describe("a report on hold", () => {
  it("was not processed by the authority, and its correction was taken back", () => {
    const timeline = [{ event: "accepted" }, { event: "failed" }, { event: "superseded" }] as DetailView["timeline"];
    expect(heldAs({ timeline, goesByItself: false, attempts: 1, messages: [] })).toBe("failed");
    // Another version may have arrived since: that is the greater danger.
    const messages = [message("other-version-delivered")];
    expect(heldAs({ timeline, goesByItself: false, attempts: 1, messages })).toBe("twice");
  });

  it("was never sent, was tried, or may be there already", () => {
    expect(
      heldAs({ timeline: [], goesByItself: false, attempts: 0, messages: [message("birth-date-after-today")] }),
    ).toBe("unsent");
    expect(heldAs({ timeline: [], goesByItself: false, attempts: 5, messages: [] })).toBe("repeat");
    expect(
      heldAs({ timeline: [], goesByItself: false, attempts: 0, messages: [message("authority-may-have-it")] }),
    ).toBe("twice");
    expect(heldAs({ timeline: [], goesByItself: true, attempts: 0, messages: [message("journal-not-compared")] })).toBe(
      "compared",
    );
    expect(
      heldAs({
        timeline: [],
        goesByItself: false,
        attempts: 2,
        messages: [message("x"), message("authority-may-have-it")],
      }),
    ).toBe("twice");
  });
});

describe("the words of the window", () => {
  it.each(["en", "de", "fr", "it"])(
    "say in %s that a person is asked about what lies in a watched folder already",
    (language) => {
      const words = Object.fromEntries(readCatalogue(language));
      expect(words["settings.watch.none"]).not.toMatch(/\bnew\b|neue|nouveaux|nuovi/i);
      expect(words["settings.watch.none"]).toMatch(/already|schon|déjà|già/);
    },
  );

  it.each(["en", "de", "fr", "it"])("say in %s nothing of sending where nothing was sent", (language) => {
    const words = Object.fromEntries(readCatalogue(language));
    // Known content may be held or withdrawn, and what is released waits to be sent.
    expect(words["verdict.known"]).not.toMatch(/sent|gesendet|envoyée|inviata/i);
    expect(words["event.released"]).not.toMatch(/^(sent|gesendet|envoyée|inviata)/i);
    expect(words["state-meaning.held"]).not.toMatch(/has not been sent|wurde nicht gesendet|n’a pas été|non è stata/i);
  });
});
