// @vitest-environment jsdom

import { QueryClientProvider, useQuery } from "@tanstack/react-query";
import { act, useState } from "react";
import { beforeAll, describe, expect, it, vi } from "vitest";

import type { Group } from "../src/bridge/generated/Group";
import type { ProblemCode } from "../src/bridge/generated/ProblemCode";
import { createCache } from "../src/bridge/queries";
import { detail } from "../src/bridge/mock/detail";
import { BLANK, UNKNOWN_CODE } from "../src/bridge/mock/messages";
import { row } from "../src/bridge/mock/reports";
import { Doubt } from "../src/parts/doubt";
import { Message } from "../src/parts/message";
import { CopyButton } from "../src/kit/controls";
import { ProblemNote, ReadProblem } from "../src/kit/notes";
import { useOtherRoom } from "../src/place";
import { ReportList } from "../src/parts/report-list";
import { Elsewhere } from "../src/parts/standing";
import { STATE_CODES, StateBadge } from "../src/parts/state";
import { render } from "./render";

describe("a state", () => {
  it.each(STATE_CODES)("%s is a word and an icon", async (state) => {
    const element = await render(<StateBadge state={state} />, "de");
    expect(element.textContent?.trim()).not.toBe("");
    expect(element.textContent).not.toBe(state);
    expect(element.querySelector("svg[aria-hidden]")).not.toBeNull();
  });
});

it("a button that copies says so for a moment, and nothing of it goes on where it is gone", async () => {
  vi.useFakeTimers();
  const written = vi.fn(async () => undefined);
  vi.stubGlobal("navigator", { ...navigator, clipboard: { writeText: written } });
  const Host = () => {
    const [shown, show] = useState(true);
    return (
      <>
        {shown && <CopyButton label="Copy it" value={() => "what is copied"} data-testid="copy" />}
        <button data-testid="away" onClick={() => show(false)} />
      </>
    );
  };
  const element = await render(<Host />);
  const press = (id: string) => act(async () => element.querySelector<HTMLElement>(`[data-testid="${id}"]`)?.click());
  await press("copy");
  expect(written).toHaveBeenCalledWith("what is copied");
  expect(element.textContent).toBe("Copied");
  await act(async () => vi.advanceTimersByTime(2000));
  expect(element.textContent).toBe("Copy it");
  await press("copy");
  await press("away");
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("what could not be read is asked for once more where a person says so", async () => {
  const problem = { code: "journal-busy", params: {}, blame: "us", remedy: "retry", trace: "list" };
  const ask = vi.fn<() => Promise<string>>().mockRejectedValueOnce(problem).mockResolvedValue("here it is");
  const Host = () => {
    const read = useQuery({ queryKey: ["read"], queryFn: ask });
    return (
      <>
        <ReadProblem of={read} actions={<button>Close</button>} />
        {read.data}
      </>
    );
  };
  const element = await render(
    <QueryClientProvider client={createCache()}>
      <Host />
    </QueryClientProvider>,
    "de",
  );
  const again = () => element.querySelector<HTMLElement>('[role="alert"] [data-testid="read-again"]');
  await vi.waitFor(() => expect(again()?.textContent).toBe("Noch einmal versuchen"));
  expect(element.querySelector('[role="alert"]')?.textContent).toContain("Close");
  await act(async () => again()?.click());
  await vi.waitFor(() => expect(element.textContent).toBe("here it is"));
  expect(ask).toHaveBeenCalledTimes(2);
});

describe("a message", () => {
  it("has our sentence, the authority's code and its own words", async () => {
    const element = await render(<Message message={UNKNOWN_CODE} />, "de");
    expect(element.textContent).toContain("nicht in der Liste der Behörde");
    expect(element.textContent).toContain("FOPH-012");
    expect(element.querySelector("blockquote")?.textContent).toBe(UNKNOWN_CODE.text);
  });

  it("leads with the authority's words where its code says nothing, and never where they may name somebody unknown", async () => {
    const text = "Practice: the patient's family name is Muster-Fehler";
    const message = { ...UNKNOWN_CODE, rule: "FOPH-002", text };
    const shown = await render(<Message message={message} />, "en", { reveal: true });
    expect(shown.querySelector("p")?.textContent).toContain(text);
    expect(shown.textContent).toContain("The authority could not process the report.");
    // No report stands around it whose patient could be hidden, as under "Ask the authority".
    const hidden = await render(<Message message={message} />, "en", { reveal: false });
    expect(hidden.textContent).toContain("The authority could not process the report.");
    expect(hidden.textContent).not.toContain("Muster-Fehler");
  });

  it("names the place as an editor does: the line, and the column where it is known", async () => {
    const words = { en: "line 12", de: "Zeile 12", fr: "ligne 12", it: "riga 12" } as const;
    const columns = { en: "column 5", de: "Spalte 5", fr: "colonne 5", it: "colonna 5" } as const;
    for (const language of ["en", "de", "fr", "it"] as const) {
      const at = { ...UNKNOWN_CODE, line: 12, column: 5 };
      const shown = await render(<Message message={at} />, language);
      expect(shown.textContent).toContain(`${words[language]}, ${columns[language]}`);
      const bare = await render(<Message message={{ ...at, column: null }} />, language);
      expect(bare.textContent).toContain(words[language]);
      expect(bare.textContent).not.toContain(columns[language]);
    }
  });

  it("shows a value as it is written, escapes and all", async () => {
    const value = "\\u003cscript\\u003e \\x41 \\u005c \\ {n} '{x}' # $&";
    const message = { ...BLANK, code: "invalid-value", params: { element: "birthDate", type: "date", value } };
    const element = await render(<Message message={message} />);
    expect(element.textContent).toContain(value);
  });

  it("is text, never HTML", async () => {
    const text = '<img src=x onerror="alert(1)">';
    const element = await render(<Message message={{ ...UNKNOWN_CODE, text }} />);
    expect(element.querySelector("img")).toBeNull();
    expect(element.querySelector("blockquote")?.textContent).toBe(text);
  });

  it("of a named rule has a sentence of its own, whichever code system it looks at, and the rule's words beside it", async () => {
    const broken = { ...BLANK, code: "rule-invariant", found: "<5>", path: "Observation" };
    const rule = "ch-elm-interpretation-code-snomedct";
    const element = await render(
      <Message message={{ ...broken, rule, params: { rule, text: "If mapped, then a member" } }} />,
      "fr",
    );
    expect(element.textContent).toContain("L’interprétation du résultat n’est pas admise");
    expect(element.querySelector("blockquote")?.textContent).toBe("If mapped, then a member");
    expect(element.textContent).toContain("Trouvé\u00a0:<5>");
    expect(element.querySelector("details")?.textContent).toContain("Que faire");
    const other = await render(
      <Message message={{ ...broken, rule: "own-9", params: { rule: "own-9", text: "Signed only." } }} />,
      "de",
    );
    expect(other.textContent).toContain("Eine Regel der Behörde ist nicht erfüllt: own-9.");
    expect(other.querySelector("blockquote")?.textContent).toBe("Signed only.");
  });

  it("calls an element as people do, and says what its sentence leaves unsaid", async () => {
    const message = { ...BLANK, code: "rule-code-system-wrong", path: "Observation.code.coding", found: null };
    const params = { value: "https://loinc.org", expected: "http://loinc.org" };
    const element = await render(<Message message={{ ...message, params }} />);
    expect(element.querySelector("dl")).toBeNull();
    const missing = {
      ...BLANK,
      code: "rule-too-long",
      path: "Patient.address.city",
      params: { element: "city", expected: "20", found: "37" },
    };
    const city = await render(<Message message={missing} />, "de");
    expect(city.textContent).toContain("Ort hat 37 Zeichen");
  });

  it("offers the cure where it may be put in, and only shows it elsewhere", async () => {
    const suggestion = { expression: "x.country", path: "Patient.address.country", before: "Schweiz", value: "CH" };
    const message = {
      ...BLANK,
      code: "rule-code-not-in-value-set",
      suggestion,
      params: { element: "country", value: "Schweiz", "value-set": "v" },
    };
    const shown = await render(<Message message={message} />);
    expect(shown.querySelector("[data-testid=suggestion] ins")?.textContent).toBe("CH");
    expect(shown.querySelector("button")).toBeNull();
    const apply = vi.fn();
    const offered = await render(<Message message={message} onApply={apply} />);
    await act(async () => offered.querySelector("button")?.click());
    expect(apply).toHaveBeenCalledOnce();
  });

  it("with an unknown code names the code and its parameters", async () => {
    const element = await render(<Message message={{ ...BLANK, code: "brand-new", params: { limit: "7" } }} />);
    expect(element.textContent).toContain("brand-new");
    expect(element.textContent).toContain("limit: 7");
  });
});

describe("what holds the queue", () => {
  it("names another authority whose reports do not move, and why", async () => {
    const problem = { code: "timeout", params: {}, blame: "network", remedy: "wait", trace: "" } as const;
    const other = { endpoint: "Produktion", environment: "production", connection: "unreachable", problem } as const;
    const waiting = (count: number) => render(<Elsewhere waiting={{ ...other, count, triesAgain: false }} />, "de");
    expect((await waiting(3)).textContent).toContain("3 Meldungen warten auf die Behörde «Produktion»");
    expect((await waiting(1)).textContent).toContain("1 Meldung wartet auf");
  });
});

describe("a problem", () => {
  const problem = {
    code: "not-a-report",
    params: { file: "a.pdf", kind: "hl7v2" },
    blame: "you",
    remedy: "choose-other-file",
    trace: "",
  } as const;

  it("tells its times as people do", async () => {
    const params = {
      aside: "/a",
      doubted: "3",
      last: "2026-11-20T17:03:11Z",
      lost: "0",
      salvaged: "0",
      submissions: "812",
    };
    const element = await render(<ProblemNote problem={{ ...problem, code: "journal-from-backup", params }} />, "de");
    expect(element.textContent).not.toContain("2026-11-20T");
    expect(element.textContent).toContain("20.11.2026");
  });

  it("says so where there is no last entry, and nothing that is kept", async () => {
    const params = { aside: "", doubted: "0", last: "", lost: "2", salvaged: "0", submissions: "0" };
    const element = await render(<ProblemNote problem={{ ...problem, code: "journal-from-nothing", params }} />, "de");
    expect(element.textContent).toContain("der letzte Eintrag ist von —.");
    expect(element.textContent).toContain("bleiben erhalten: es war nichts da");
  });

  it("says what happened, with codes among its parameters in words, and what next", async () => {
    const element = await render(<ProblemNote problem={problem} />);
    expect(element.textContent).toContain("a.pdf is not a report");
    // The code is for whoever helps.
    expect(element.querySelector("details")?.open).toBe(false);
    expect(element.querySelector("details code")?.textContent).toContain(problem.code);
    expect(element.textContent).toContain("HL7 version 2 message");
    expect(element.textContent).toContain("Choose another file.");
  });

  it("of a watched folder names the file, why it is refused, and what next", async () => {
    const params = {
      count: "2",
      file: "Befund 4711.pdf",
      folder: "/home/lab/out",
      kind: "pdf",
      reason: "not-a-report",
    };
    const refused = { ...problem, code: "watched-files-refused", params, remedy: "mend-file" } as const;
    const element = await render(<ProblemNote problem={refused} />, "de");
    expect(element.textContent).toContain("nicht gesendet werden können: 2");
    expect(element.textContent).toContain("Befund 4711.pdf in /home/lab/out");
    expect(element.textContent).toContain("das ist keine Meldung: PDF");
    expect(element.textContent).toContain("Korrigieren Sie die Datei");
    const away = {
      ...problem,
      code: "watched-folder-away",
      params: { folder: "/mnt/lab", reason: "folder-missing" },
      remedy: "reconnect-folder",
    } as const;
    const gone = await render(<ProblemNote problem={away} />, "de");
    expect(gone.textContent).toContain("/mnt/lab: er ist nicht da");
  });

  it("that is unknown shows code and parameters", async () => {
    const element = await render(<ProblemNote problem={{ ...problem, code: "strange-thing" as ProblemCode }} />);
    expect(element.textContent).toContain("strange-thing");
    expect(element.textContent).toContain("a.pdf");
  });
});

describe("a report in doubt", () => {
  const now = Date.parse("2026-11-20T17:03:11Z");
  const unknown = (group: Group) => {
    const of = { ...row(7, 4, now), group };
    expect(of.state).toBe("unknown");
    return detail(of, "Brunner, Lea");
  };

  it("says how often the authority was asked", async () => {
    const element = await render(<Doubt view={unknown("in-progress")} />);
    expect(element.textContent).toContain("asked 5 times");
    expect(element.querySelector("button")).toBeNull();
  });

  it("that lasts offers a question to the authority that names no patient", async () => {
    const view = unknown("needs-attention");
    const element = await render(<Doubt view={view} />, "de");
    const copied = vi.fn((_: string) => Promise.resolve());
    vi.stubGlobal("navigator", { clipboard: { writeText: copied } });
    await act(async () => element.querySelector("button")?.click());
    vi.unstubAllGlobals();
    const question = copied.mock.calls[0]?.[0] ?? "";
    expect(question).toContain(view.identifier);
    expect(question).toContain(view.digest);
    expect(question).not.toContain("Brunner");
    expect(element.textContent).toContain("Kopiert");
  });

  it("is not there in another state", async () => {
    const view = unknown("in-progress");
    const element = await render(<Doubt view={{ ...view, row: { ...view.row, state: "completed" } }} />);
    expect(element.textContent).toBe("");
  });
});

describe("the list of reports", () => {
  // jsdom lays nothing out.
  beforeAll(() => {
    Object.defineProperty(HTMLElement.prototype, "clientHeight", { configurable: true, get: () => 600 });
    Object.defineProperty(HTMLElement.prototype, "clientWidth", { configurable: true, get: () => 800 });
  });

  const rows = Array.from({ length: 10_000 }, (_, at) => row(10_000 - at, at, 1_800_000_000_000));
  const listOf = (props: Partial<Parameters<typeof ReportList>[0]>) => (
    <ReportList
      rows={rows}
      total={10_000}
      focus={null}
      open={null}
      order={{ column: null, ascending: false }}
      hasDeadlines={false}
      chosen={new Set()}
      destination={() => null}
      onOpen={vi.fn()}
      onFocus={vi.fn()}
      onEnd={vi.fn()}
      onSort={vi.fn()}
      onChoose={vi.fn()}
      onChooseAll={vi.fn()}
      {...props}
    />
  );

  it("draws few of 10,000 rows", async () => {
    const element = await render(listOf({}));
    const drawn = element.querySelectorAll("[data-testid=report-row]").length;
    expect(drawn).toBeGreaterThan(5);
    expect(drawn).toBeLessThan(60);
    expect(element.querySelector("[role=grid]")?.getAttribute("aria-rowcount")).toBe("10001");
  });

  it("asks for more near the end", async () => {
    const onEnd = vi.fn();
    await render(listOf({ rows: rows.slice(0, 20), onEnd }));
    expect(onEnd).toHaveBeenCalled();
  });

  it("says which column it is sorted by, and what is chosen", async () => {
    const chosen = new Set([9_999]);
    const element = await render(listOf({ order: { column: "patient", ascending: true }, chosen }));
    const sorted = [...element.querySelectorAll("[role=columnheader][aria-sort]")].map((head) =>
      head.getAttribute("aria-sort"),
    );
    expect(sorted).toEqual(["none", "ascending", "none", "none"]);
    const selected = element.querySelectorAll("[role=row][aria-selected=true]");
    expect([...selected].map((one) => one.getAttribute("data-id"))).toEqual(["9999"]);
    expect(element.querySelector("[data-testid=choose-all]")?.getAttribute("aria-checked")).toBe("mixed");
  });

  it("opens on a press, chooses on its box or with Ctrl, and takes a range with Shift", async () => {
    const [onOpen, onChoose, onChooseAll] = [vi.fn(), vi.fn(), vi.fn()];
    const element = await render(listOf({ onOpen, onChoose, onChooseAll, focus: 10_000 }));
    const [first, second] = element.querySelectorAll<HTMLElement>("[data-testid=report-row]");
    const press = (on: Element | null | undefined, how: MouseEventInit = {}) =>
      act(() => void on?.dispatchEvent(new MouseEvent("click", { bubbles: true, ...how })));
    press(first);
    press(second?.querySelector("[data-choice]"));
    press(second, { ctrlKey: true });
    press(second, { shiftKey: true });
    press(element.querySelector("[data-testid=choose-all]"));
    const space = { key: " ", bubbles: true, cancelable: true };
    act(() => void element.querySelector("[role=grid]")?.dispatchEvent(new KeyboardEvent("keydown", space)));
    expect(onOpen.mock.calls).toEqual([[10_000]]);
    const chosen = onChoose.mock.calls.map(([id, range]) => [id, range]);
    expect(chosen).toEqual([
      [9_999, false],
      [9_999, false],
      [9_999, true],
      [10_000, false],
    ]);
    expect(onChooseAll).toHaveBeenCalledOnce();
  });
});

describe("another room", () => {
  it("closes what names reports by number, once, and nothing before the first room is known", async () => {
    const close = vi.fn();
    let move: (room: number) => void = () => undefined;
    function Frame() {
      const [room, setRoom] = useState<number>();
      move = setRoom;
      useOtherRoom(room, () => close(room));
      return null;
    }
    await render(<Frame />);
    for (const room of [3, 3, 4, 4]) act(() => move(room));
    expect(close.mock.calls).toEqual([[4]]);
  });
});
