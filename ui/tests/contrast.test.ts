// WCAG 2.2 AA: 4.5 for text, 3 for what shows a control or a shape.

import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("../src/styles/tokens.css", import.meta.url), "utf8");

const TEXT = 4.5;
const SHAPE = 3;
const TONES = ["attention", "caution", "progress", "doubt", "done", "quiet"];
const SURFACES = ["rail", "window", "raised", "sunken", "hover", "selected"].map((name) => `surface-${name}`);
const TONE_GROUNDS = TONES.map((tone) => `${tone}-ground`);

/** Foreground, ground, least ratio. */
const PAIRS: [string, string, number][] = [
  ...["text", "text-quiet"].flatMap((text) =>
    SURFACES.map((ground) => [text, ground, TEXT] as [string, string, number]),
  ),
  ...["text", "text-quiet"].flatMap((text) =>
    TONES.map((tone) => [text, `${tone}-ground`, TEXT] as [string, string, number]),
  ),
  ...TONES.flatMap((tone) => [
    [tone, `${tone}-ground`, TEXT] as [string, string, number],
    ...SURFACES.map((ground) => [tone, ground, TEXT] as [string, string, number]),
  ]),
  // The tick of a menu stands on the hovered entry, and a link in a row that is hovered or chosen.
  ...SURFACES.map((ground) => ["link", ground, TEXT] as [string, string, number]),
  ["on-accent", "accent", TEXT],
  ["on-accent", "accent-hover", TEXT],
  ["practice", "practice-ground", TEXT],
  ["practice", "practice-stripe", TEXT],
  ["integration", "integration-ground", TEXT],
  ["integration", "integration-stripe", TEXT],
  // Boxes and places stand in rows that are hovered or chosen, fields and buttons in notices of every tone.
  ...[...SURFACES, ...TONE_GROUNDS].flatMap(
    (ground) =>
      [
        ["line-strong", ground, SHAPE],
        ["focus", ground, SHAPE],
      ] as [string, string, number][],
  ),
  ...["raised", "window", "rail", "sunken"].map(
    (ground) => ["accent", `surface-${ground}`, SHAPE] as [string, string, number],
  ),
  // The edge of a notice, a badge or a chip is an ornament: its icon and its words carry what it says.
];

function tokens(theme: string): Map<string, string> {
  const block = new RegExp(`data-theme="${theme}"\\] \\{([^}]*)\\}`).exec(css)?.[1] ?? "";
  return new Map(
    [...block.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name ?? "", value ?? ""]),
  );
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

describe.each(["light", "dark"])("%s", (theme) => {
  const values = tokens(theme);

  it.each(PAIRS)("%s on %s has at least %f", (front, ground, least) => {
    const [a, b] = [values.get(front), values.get(ground)];
    expect(a, front).toBeDefined();
    expect(b, ground).toBeDefined();
    expect(contrast(a ?? "", b ?? "")).toBeGreaterThanOrEqual(least);
  });
});

it("has the same tokens in both themes", () => {
  expect([...tokens("dark").keys()].toSorted()).toEqual([...tokens("light").keys()].toSorted());
});
