// What the made-up core says when somebody means harm: every text that comes from outside (a file, a
// certificate, the authority, a setting) is replaced, and says under which name it stood.

/** Names of texts from outside. All other strings are codes and times of our own. */
const TEXTS = new Set([
  "baseUrl",
  "birthDate",
  "body",
  "code-of-report",
  "contentType",
  "detail",
  "digest",
  "documentIdentifier",
  "endpoint",
  "expression",
  "file",
  "fingerprint",
  "identifier",
  "issuer",
  "keyType",
  "laboratory",
  "name",
  "patient",
  "person",
  "receipt",
  "rule",
  "serial",
  "subject",
  "text",
  "value",
]);

/** The view with each text from outside replaced by `«name»` and the given one. */
export function spoiled<T>(view: T, by: string): T {
  return walk(view, null, by) as T;
}

function walk(value: unknown, name: string | null, by: string): unknown {
  if (typeof value === "string") return name !== null && TEXTS.has(name) ? `«${name}»${by}` : value;
  if (Array.isArray(value)) return value.map((item) => walk(item, name, by));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, member(value, key, inner, by)]));
}

function member(of: object, key: string, value: unknown, by: string): unknown {
  // Parameters of a message are the document's words, whatever they are called.
  if (key === "params")
    return Object.fromEntries(Object.keys(value as object).map((inner) => [inner, `«params»${by}`]));
  // A message's source is a code; that of a report is its text. A code of a report is what the file says.
  if (key === "source" && "timeline" in of) return `«source»${by}\n«source»${by}`;
  // That of a file is compared with those of the others on the list, and stands nowhere: all alike, they would be one report.
  if (key === "documentIdentifier" && "verdict" in of) return value;
  if (key === "watchedFolder") return `«watchedFolder»${by}`;
  if (key === "code" && "laboratory" in of) return walk(value, "code-of-report", by);
  return walk(value, key, by);
}
