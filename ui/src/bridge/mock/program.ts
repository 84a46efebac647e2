// The program itself, as the made-up core tells of it: its version and newer ones, its starts, and what support is
// shown.

import type { StatusView } from "../generated/StatusView";
import type { UpdatesView } from "../generated/UpdatesView";
import type { Answers } from "./answers";

const NOBODY_ASKED: UpdatesView = {
  state: "nobody",
  reason: null,
  version: null,
  asked: null,
  address: null,
  file: "/etc/lab-courier/updates.json",
};

/** A program of which that newer version is ready, if any. */
export function createProgram(newer: string | null) {
  const answers = {
    opened: () => ({ paths: [], refused: 0, report: null }),
    updates: () => (newer ? { ...NOBODY_ASKED, state: "ready", version: newer } : NOBODY_ASKED),
    look_for_updates: () => NOBODY_ASKED,
    set_updates: () => null,
    install_update: () => false,
    support_preview: () => [
      { name: "summary.txt", text: "Support bundle of lab-courier 0.1.0\n\nIt holds no patient data.\n" },
      { name: "program.json", text: '{\n  "version": "0.1.0",\n  "system": "linux"\n}\n' },
      { name: "counts.json", text: '{\n  "byState": {\n    "completed": 12\n  }\n}\n' },
    ],
    save_support: () => true,
  } satisfies Partial<Answers>;
  const status = () => ({ version: "0.1.0" }) satisfies Partial<StatusView>;
  return { answers, status };
}
