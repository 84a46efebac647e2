// What is closed in the made-up core: the window until it is unlocked, and settings of administrators.

import type { Command } from "../door";
import type { StatusView } from "../generated/StatusView";
import { problem } from "./answers";
import type { Answers } from "./answers";

/** What a locked window may ask, as the core has it. */
const ALWAYS = new Set<Command>(["status", "preferences", "lock", "unlock"]);

/** With a passphrase, the window begins locked; `closed` says whether only administrators may change settings. */
export function createLock(passphrase: string, closed: boolean) {
  let locked = passphrase !== "";

  /** Refuses what a locked window may not ask. */
  function guard(command: Command): void {
    if (locked && !ALWAYS.has(command)) throw problem("window-locked", {}, "unlock-window");
  }
  const answers = {
    lock() {
      locked = true;
      return null;
    },
    unlock(takes) {
      if (passphrase !== "" && takes.passphrase !== passphrase) throw problem("unlock-refused", {}, "enter-password");
      locked = false;
      return null;
    },
    set_unlock_passphrase(takes) {
      if (takes.current !== passphrase) throw problem("unlock-refused", {}, "enter-password");
      ({ passphrase } = takes);
      return null;
    },
    open_administration: () => null,
    close_administration: () => null,
    set_administration_passphrase: () => null,
  } satisfies Partial<Answers>;
  const status = () =>
    ({
      locked,
      hasUnlockPassphrase: passphrase !== "",
      hasAdministrationPassphrase: closed,
      administrationClosed: closed,
    }) satisfies Partial<StatusView>;
  return { guard, answers, status };
}
