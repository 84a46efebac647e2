// Safekeeping of the made-up core's journal: backups and their restore, retention, and what was set aside.

import type { SafekeepingView } from "../generated/SafekeepingView";
import type { Answers } from "./answers";

export function createKeeping(now: number) {
  let safekeeping: SafekeepingView = {
    backups: 9,
    lastBackup: new Date(now - 5_400_000).toISOString(),
    backupPlace: null,
    retentionDays: null,
    needsPassphrase: false,
    restorable: [
      { name: "journal-20261126T081112Z-1204.db", elsewhere: false, at: new Date(now - 5_400_000).toISOString() },
      { name: "journal-20261125T080950Z-1180.db", elsewhere: false, at: new Date(now - 9e7).toISOString() },
      { name: "journal-20261125T080950Z-1180.db", elsewhere: true, at: new Date(now - 9e7).toISOString() },
    ],
    setAside: [
      { name: "journal.db.set-aside-1795000000000000", at: new Date(now - 9e8).toISOString(), bytes: 48_302_080 },
    ],
  };
  const answers = {
    safekeeping: () => safekeeping,
    back_up() {
      safekeeping = { ...safekeeping, backups: safekeeping.backups + 1, lastBackup: new Date().toISOString() };
      return null;
    },
    check_journal: () => 1_204,
    rotate_journal_key: () => null,
    set_backup_place({ path }) {
      safekeeping = { ...safekeeping, backupPlace: path };
      return path === null ? 0 : safekeeping.backups;
    },
    plan_retention: ({ days }) => ({ reports: emptied(days), before: new Date(now - days * 864e5).toISOString() }),
    set_retention({ days }) {
      safekeeping = { ...safekeeping, retentionDays: days };
      return days === null ? 0 : emptied(days);
    },
    plan_restore: ({ name, elsewhere }) => ({
      at: safekeeping.restorable.find((one) => one.name === name && one.elsewhere === elsewhere)?.at ?? "",
      reportsSince: 12,
      needsPassphrase: elsewhere,
    }),
    restore_backup: () => ({ reports: 311, doubted: 2, salvaged: 11, lost: 1, editedLost: 1, closed: null }),
    remove_set_aside({ name }) {
      safekeeping = { ...safekeeping, setAside: safekeeping.setAside.filter((one) => one.name !== name) };
      return null;
    },
  } satisfies Partial<Answers>;
  return { answers };
}

/** How many reports lose their content when it is kept for so many days: none is older than a year. */
const emptied = (days: number) => (days > 365 ? 0 : Math.round(73_000 / days));
