// What a person has to be told by the made-up core, until they have read it.

import type { NoticeView } from "../generated/NoticeView";
import type { Problem } from "../generated/Problem";
import type { StatusView } from "../generated/StatusView";
import { problem } from "./answers";
import type { Answers } from "./answers";

export const RECOVERED = problem(
  "journal-from-backup",
  {
    aside: "/home/lab/.local/share/labcourier/laboratory/journal.db.set-aside-1795000000000000",
    doubted: "3",
    last: "2026-11-20T17:03:11Z",
    lost: "1",
    salvaged: "4",
    submissions: "812",
  },
  "look-at-list",
  "us",
);

export const REFUSED = problem(
  "watched-files-refused",
  { count: "2", file: "Befund 4711.pdf", folder: "/home/lab/out", kind: "pdf", reason: "not-a-report" },
  "mend-file",
);

export const AWAY = problem(
  "watched-folder-away",
  { folder: "/mnt/lab/out", reason: "folder-missing" },
  "reconnect-folder",
);

export function createNotices(of: Problem[], now: number) {
  let notices: NoticeView[] = of.map((one) => ({ problem: one, at: new Date(now).toISOString() }));
  const answers = {
    acknowledge_notice({ code, at }) {
      notices = notices.filter((notice) => notice.problem.code !== code || notice.at !== at);
      return null;
    },
    lost_reports: ({ reveal }) => {
      const newest = notices.some(({ problem: { params } }) => params.lost === "1")
        ? [{ file: reveal ? "befund-0812.json" : "b…-0….json", at: "2026-11-20T16:58:02Z", endpoint: "BAG" }]
        : [];
      return { total: newest.length, newest };
    },
  } satisfies Partial<Answers>;
  const status = () => ({ notices }) satisfies Partial<StatusView>;
  return { answers, status };
}
