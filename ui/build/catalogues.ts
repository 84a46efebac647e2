// Compiles the ICU messages of one language into a module, `virtual:catalogue/LANGUAGE`, so that the
// window carries no message parser.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { compileMessageOrThrow } from "@lingui/message-utils/compileMessage";
import type { Plugin } from "vite";

const NAME = "virtual:catalogue/";

/** The table of diseases: key, names in English, German, French, Italian, words. The core reads the same file. */
const DISEASES = new URL("../../crates/report/src/diseases/names.tsv", import.meta.url);
const COLUMNS = ["en", "de", "fr", "it"];

/** Names of diseases in a language, by `disease.KEY`. */
function diseases(language: string): [string, string][] {
  const lines = readFileSync(DISEASES, "utf8").split("\n");
  const rows = lines.filter((line) => line && !line.startsWith("#")).map((line) => line.split("\t"));
  return rows.map(([key, ...names]) => [`disease.${key}`, names[COLUMNS.indexOf(language)] ?? ""]);
}

/** All messages of a language, by id, as written. An id in two files is a mistake. */
export function readCatalogue(folder: string, language: string): Map<string, string> {
  const messages = new Map<string, string>();
  for (const file of readdirSync(join(folder, language)).toSorted()) {
    const path = join(folder, language, file);
    for (const [id, text] of Object.entries(JSON.parse(readFileSync(path, "utf8")) as Record<string, string>)) {
      if (messages.has(id)) throw new Error(`${path}: ${id} is defined twice`);
      messages.set(id, text);
    }
  }
  for (const [id, name] of diseases(language)) messages.set(id, name);
  return messages;
}

/** The plugin. */
export function catalogues(folder: string): Plugin {
  return {
    name: "catalogues",
    resolveId: (id) => (id.startsWith(NAME) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${NAME}`)) return undefined;
      const language = id.slice(NAME.length + 1);
      const compiled: Record<string, unknown> = {};
      for (const file of readdirSync(join(folder, language))) this.addWatchFile(join(folder, language, file));
      for (const [key, text] of readCatalogue(folder, language)) {
        // `compileMessageOrThrow` names the text but not the id.
        try {
          compiled[key] = compileMessageOrThrow(text);
        } catch (cause) {
          throw new Error(`${language}: ${key}: ${text}`, { cause });
        }
      }
      return `export default ${JSON.stringify(compiled)};`;
    },
  };
}
