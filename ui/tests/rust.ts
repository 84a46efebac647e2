// The core's tables of codes, read from its source text: what the window must have words for.

import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const crates = fileURLToPath(new URL("../../crates", import.meta.url));

/** Source text of a file, or of all files of a folder, without comments. */
export function source(path: string): string {
  const at = join(crates, path);
  if (!existsSync(at)) throw new Error(`${path} has moved: name its new place here`);
  const files = statSync(at).isDirectory()
    ? readdirSync(at, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".rs")).map((file) => join(at, file))
    : [at];
  return files.map((file) => readFileSync(file, "utf8").replace(/^\s*\/\/.*$/gm, "")).join("\n");
}

/** The body of the only `const NAME: … = &[ … ];` or `= [ … ];`. */
function table(path: string, name: string): string {
  const text = source(path);
  const start = text.search(new RegExp(`\\b(?:const|static) ${name}: `));
  if (start < 0) throw new Error(`${path} has no table ${name}`);
  const body = text.slice(text.indexOf("=", start));
  return body.slice(0, body.indexOf("];") + 1);
}

/** Codes of a table without parameters. */
export function names(path: string, name: string): string[] {
  const found = [...table(path, name).matchAll(/"([^"]+)"/g)].map(([, code]) => code ?? "");
  if (found.length === 0) throw new Error(`${path}: ${name} is empty`);
  return found;
}

/** Codes that a function gives, as in `Self::Variant { .. } => "code"`. */
export function given(path: string, pattern: RegExp): string[] {
  const found = [...source(path).matchAll(pattern)].map(([, code]) => code ?? "");
  if (found.length === 0) throw new Error(`${path}: nothing like ${pattern}`);
  return found;
}

/** Sentences of the command line whose name is like this. */
export function said(language: string, pattern: RegExp): Map<string, string> {
  const texts = JSON.parse(readFileSync(join(crates, `cli/src/catalogue/${language}/says.json`), "utf8")) as Record<string, string>;
  const found = Object.entries(texts).filter(([id]) => pattern.test(id));
  if (found.length === 0) throw new Error(`the command line says nothing like ${pattern}`);
  return new Map(found);
}
