// What the window must have words for: the core's codes, as the generated unions name them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The codes of a union that was generated from the core's list of them. */
export function codes(union: string): string[] {
  const text = readFileSync(join(here("../src/bridge/generated"), `${union}.ts`), "utf8");
  const found = [...text.slice(text.indexOf("export type")).matchAll(/"([^"]+)"/g)].map(([, code]) => code ?? "");
  if (found.length === 0) throw new Error(`${union} is no union of codes`);
  return found;
}

/** Sentences of the command line whose name is like this. */
export function said(language: string, pattern: RegExp): Map<string, string> {
  const file = join(here("../../crates/cli/src/catalogue"), language, "says.json");
  const texts = JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
  const found = Object.entries(texts).filter(([id]) => pattern.test(id));
  if (found.length === 0) throw new Error(`the command line says nothing like ${pattern}`);
  return new Map(found);
}
