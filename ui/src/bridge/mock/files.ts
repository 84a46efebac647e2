// Files that the made-up core is shown: their names alone say what is in them.

import type { CandidateView } from "../generated/CandidateView";
import type { Answers } from "./answers";
import { candidate } from "./reports";

const REPORTS = [
  "/data/2026-11-20_4711.json",
  "/data/2026-11-20_4712-warn-uuid.xml",
  "/data/2026-11-20_4713-birth-error.json",
  "/data/scan.pdf",
  "/data/2026-11-19_known.json",
];

/** The reports at a path: three in an archive or a folder. */
export function look(path: string): CandidateView[] {
  if (/\.(zip|ndjson)$|folder$/.test(path)) return [1, 2, 3].map((at) => candidate(`${path}/report-${at}.json`, at));
  return [candidate(path, path.length)];
}

export const files = {
  inspect_files: ({ paths }) => paths.flatMap(look),
  inspect_text: ({ name, text }) => (text.trim().startsWith("{") ? look(name) : look("scan.pdf")),
  choose_files: ({ purpose }) =>
    purpose === "reports"
      ? REPORTS
      : purpose === "rules"
        ? ["/data/ch.fhir.ig.ch-term-3.3.0.tgz"]
        : ["/data/labor-aaretal.p12"],
  choose_folder: () => "/data/outbox-folder",
  practice_samples: () => [
    "/samples/sample-1-gonorrhoea.json",
    "/samples/sample-2-influenza.xml",
    "/samples/sample-3-fails-on-purpose.json",
  ],
} satisfies Partial<Answers>;
