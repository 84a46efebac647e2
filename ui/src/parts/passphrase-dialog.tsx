// Choosing, changing or giving up a passphrase: the one that unlocks the window, or that of administrators; and changing the
// one that protects the laboratory's keys, which is not given up.

import { useRef, useState } from "react";

import { useCommand } from "../bridge/queries";
import { useText } from "../i18n/text";
import { Button, TextField } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import { ProblemNote } from "../kit/notes";
import { say } from "../kit/toasts";
import { isShort, lackOf } from "./passphrase";

/** As the core has it. */
const LENGTHS_MIN = { lock: 6, administration: 6, vault: 12 } as const;

const COMMANDS = {
  lock: "set_unlock_passphrase",
  administration: "set_administration_passphrase",
  vault: "change_vault_passphrase",
} as const;

/** What the core says where the one of before is wrong. */
const WRONG = new Set(["unlock-refused", "wrong-passphrase"]);

export function PassphraseDialog({
  of,
  hasOne,
  onClose,
}: {
  of: keyof typeof COMMANDS;
  hasOne: boolean;
  onClose: () => void;
}) {
  const text = useText();
  const [current, setCurrent] = useState("");
  const [chosen, setChosen] = useState("");
  const [again, setAgain] = useState("");
  const fields = useRef<HTMLDivElement>(null);
  const set = useCommand(COMMANDS[of], {
    onDone(_, { passphrase }) {
      onClose();
      say({ tone: "done", title: text(passphrase === "" ? "lock.removed" : hasOne ? "lock.changed" : "lock.chosen") });
    },
  });
  const least = LENGTHS_MIN[of];
  const lack = lackOf(chosen, again, least);
  const isWrong = set.error !== null && WRONG.has(set.error.code);
  const keep = (passphrase: string) =>
    set.mutate(
      { current, passphrase },
      {
        onError({ code }) {
          // The first field: what was wrong is typed over by the next key.
          const [field] = WRONG.has(code) ? (fields.current?.getElementsByTagName("input") ?? []) : [];
          field?.focus();
          field?.select();
        },
      },
    );
  return (
    <Dialog
      title={text(of === "vault" || hasOne ? `${of}.change.title` : `${of}.choose.title`)}
      size="small"
      isDirty={current + chosen + again !== ""}
      onClose={onClose}
      footer={
        <>
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          {hasOne && of !== "vault" && (
            <Button tone="danger" isPending={set.isPending} onPress={() => keep("")} data-testid="passphrase-remove">
              {text("lock.remove")}
            </Button>
          )}
          <Button
            tone="primary"
            isDisabled={lack !== null}
            isPending={set.isPending}
            onPress={() => keep(chosen)}
            data-testid="passphrase-keep"
          >
            {text("lock.keep")}
          </Button>
        </>
      }
    >
      <p>{text(`${of}.choose.more`, { n: least })}</p>
      {hasOne && (
        <div ref={fields}>
          <TextField
            label={text("lock.current")}
            type="password"
            value={current}
            onChange={setCurrent}
            autoFocus
            error={isWrong ? text("lock.current.wrong") : undefined}
            data-testid="passphrase-current"
          />
        </div>
      )}
      <TextField
        label={text("lock.new")}
        type="password"
        value={chosen}
        onChange={setChosen}
        autoFocus={!hasOne}
        help={isShort(chosen, least) ? text("passphrase.short", { n: least }) : undefined}
        data-testid="passphrase-new"
      />
      <TextField
        label={text("lock.again")}
        type="password"
        value={again}
        onChange={setAgain}
        help={lack === "again" ? text("passphrase.again") : undefined}
        error={lack === "differs" ? text("vault.differs") : undefined}
        data-testid="passphrase-again"
      />
      {set.error && !isWrong && <ProblemNote problem={set.error} />}
    </Dialog>
  );
}
