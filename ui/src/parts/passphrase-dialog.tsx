// Choosing, changing or giving up a passphrase: the one that unlocks the window, or that of administrators.

import { useState } from "react";

import { useCommand } from "../bridge/queries";
import { useText } from "../i18n/text";
import { Button, TextField } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import { ProblemNote } from "../kit/notes";
import { lackOf } from "./passphrase";

/** As the core has it. */
const LENGTH_MIN = 6;

const COMMANDS = { lock: "set_unlock_passphrase", administration: "set_administration_passphrase" } as const;

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
  const set = useCommand(COMMANDS[of], { onDone: onClose });
  const lack = lackOf(chosen, again, LENGTH_MIN);
  const keep = (passphrase: string) => set.mutate({ current, passphrase });
  return (
    <Dialog
      title={text(`${of}.${hasOne ? "change" : "choose"}.title`)}
      size="small"
      isDirty={current + chosen + again !== ""}
      onClose={onClose}
      footer={
        <>
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          {hasOne && (
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
      <p>{text(`${of}.choose.more`, { n: LENGTH_MIN })}</p>
      {hasOne && (
        <TextField
          label={text("lock.current")}
          type="password"
          value={current}
          onChange={setCurrent}
          autoFocus
          data-testid="passphrase-current"
        />
      )}
      <TextField
        label={text("lock.new")}
        type="password"
        value={chosen}
        onChange={setChosen}
        autoFocus={!hasOne}
        help={lack === "short" ? text("passphrase.short", { n: LENGTH_MIN }) : undefined}
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
      {set.error && <ProblemNote problem={set.error} />}
    </Dialog>
  );
}
