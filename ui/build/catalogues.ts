// Compiles the ICU messages of one language into a module, `virtual:catalogue/LANGUAGE`, so that the
// window carries no message parser. What the core says by code is in `texts`, which the command line and the
// authority read as well; what only the window says is in `ui/src/i18n`.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

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

/** Where the texts are: those of the core's codes, and the window's own. In each a folder for each language. */
const FOLDERS = [new URL("../../texts", import.meta.url), new URL("../src/i18n", import.meta.url)].map((url) =>
  fileURLToPath(url),
);

/** The language in which every text is written first. */
const FIRST = "en";

/** The files with the texts of a language. */
function files(language: string): string[] {
  const folders = FOLDERS.map((folder) => join(folder, language));
  return folders.flatMap((folder) =>
    readdirSync(folder)
      .toSorted()
      .map((file) => join(folder, file)),
  );
}

/** All messages of a language, by id, as written. An id in two files is a mistake. */
export function readCatalogue(language: string): Map<string, string> {
  const messages = new Map<string, string>();
  for (const path of files(language)) {
    for (const [id, text] of Object.entries(JSON.parse(readFileSync(path, "utf8")) as Record<string, string>)) {
      if (messages.has(id)) throw new Error(`${path}: ${id} is defined twice`);
      messages.set(id, text);
    }
  }
  for (const [id, name] of diseases(language)) messages.set(id, name);
  return messages;
}

/** The texts of a language, which are those of the first one: a text that is missing fails the build. */
export function completeCatalogue(language: string, first = readCatalogue(FIRST)): Map<string, string> {
  const messages = readCatalogue(language);
  const missing = [...first.keys()].filter((id) => !messages.has(id));
  const foreign = [...messages.keys()].filter((id) => !first.has(id));
  if (missing.length > 0) throw new Error(`${language}: no text for ${missing.join(", ")}`);
  if (foreign.length > 0) throw new Error(`${language}: texts that ${FIRST} does not have: ${foreign.join(", ")}`);
  return messages;
}

/** The plugin. */
export function catalogues(): Plugin {
  return {
    name: "catalogues",
    resolveId: (id) => (id.startsWith(NAME) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${NAME}`)) return undefined;
      const language = id.slice(NAME.length + 1);
      const compiled: Record<string, unknown> = {};
      for (const file of files(language)) this.addWatchFile(file);
      for (const [key, text] of completeCatalogue(language)) {
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
