// A made-up core in memory: used by `vite --mode mock` and the tests, never part of the product. `createMock` puts it
// together from its parts: each file that it names has the state and the answers of one subject, and what the status
// says of it. Made-up reports are in `reports.ts`, `messages.ts` and `detail.ts`. The window in a browser comes in by
// `browser.ts`.

import type { CoreHandlers, Door } from "../door";
import type { ElsewhereView } from "../generated/ElsewhereView";
import type { Environment } from "../generated/Environment";
import type { Problem } from "../generated/Problem";
import type { StatusView } from "../generated/StatusView";
import type { Theme } from "../generated/Theme";
import type { Answers } from "./answers";
import { createAuthority } from "./authority";
import { createCertificates } from "./certificates";
import { createCorrections } from "./corrections";
import { createDecisions } from "./decisions";
import { createEndpoints } from "./endpoints";
import { createFigures } from "./figures";
import { files } from "./files";
import { createJournal } from "./journal";
import { createKeeping } from "./keeping";
import { createLists } from "./lists";
import { createLock } from "./lock";
import { createNotices } from "./notices";
import { createProgram } from "./program";
import { createRules } from "./rules";
import { createSending } from "./sending";
import { createSettings } from "./settings";
import { createWatched } from "./watched";

export interface MockOptions {
  rows?: number;
  environment?: Environment;
  firstRunDone?: boolean;
  language?: string | null;
  theme?: Theme;
  /** What unlocks the window; with one it starts locked. */
  passphrase?: string;
  /** Whether only administrators may change settings. */
  closed?: boolean;
  /** Whether the keys wait for their passphrase. */
  sealed?: boolean;
  /** Whether this computer has a keychain. */
  keychain?: boolean;
  /** The newer version that is ready. */
  update?: string | null;
  /** Open reports of an endpoint that is not in use. */
  elsewhere?: ElsewhereView[];
  /** What happened to the journal and nobody has read yet. */
  notices?: Problem[];
  /** Whether a folder is watched, with files in it. */
  watched?: boolean;
  /** Whether the authority cannot be reached until a person has tried it once more. */
  unreachable?: boolean;
  /** Milliseconds between the steps of a submission; the undo time is apart from it. */
  step?: number;
}

/** A core of its own. */
export function createMock(options: MockOptions = {}): Door {
  const now = Date.now();
  let handlers: CoreHandlers | undefined;

  const journal = createJournal(options.rows ?? 64, now, (revision) => handlers?.changed({ revision }));
  const sending = createSending(journal, options.step ?? 1500);
  const endpoints = createEndpoints(
    { environment: options.environment ?? "practice", unreachable: options.unreachable ?? false },
    options.elsewhere ?? [],
    now,
  );
  const keys = { sealed: options.sealed ?? false, keychain: options.keychain ?? true };
  const certificates = createCertificates(endpoints.known, keys, now);
  const notices = createNotices(options.notices ?? [], now);
  const lock = createLock(options.passphrase ?? "", options.closed ?? false);
  const chosen = {
    language: options.language ?? null,
    theme: options.theme ?? "system",
    firstRunDone: options.firstRunDone ?? true,
  };
  const settings = createSettings(chosen, options.watched ? "/home/lab/out" : null);
  const program = createProgram(options.update ?? null);

  const status = (): StatusView => ({
    ...journal.status(),
    ...sending.status(),
    ...endpoints.status(),
    ...certificates.status(),
    ...notices.status(),
    ...lock.status(),
    ...settings.status(),
    ...program.status(),
  });
  const answers: Answers = {
    status,
    ...journal.answers,
    ...createLists(journal).answers,
    ...files,
    ...sending.answers,
    ...createDecisions(journal, sending).answers,
    ...createCorrections(journal, sending).answers,
    ...createFigures(journal, now).answers,
    ...createAuthority(journal).answers,
    ...endpoints.answers,
    ...certificates.answers,
    ...createRules(journal, now).answers,
    ...createKeeping(now).answers,
    ...notices.answers,
    ...lock.answers,
    ...settings.answers,
    ...createWatched(options.watched ?? false, now).answers,
    ...program.answers,
  };

  return {
    entered: () => Promise.resolve(),
    here() {
      return this;
    },
    // Answers come later, as they do from the core, and never share objects with it.
    call: async (command, ...[takes]) => {
      await Promise.resolve();
      lock.guard(command);
      return structuredClone((answers[command] as (t: unknown) => never)(takes));
    },
    listen(given) {
      handlers = given;
      return () => {
        handlers = undefined;
      };
    },
  };
}
