// The locked window: no name, no report; sending goes on behind it.

import { useQueryClient } from "@tanstack/react-query";
import { LockKeyhole } from "lucide-react";
import { useState } from "react";

import type { StatusView } from "../bridge/generated/StatusView";
import { useCommand } from "../bridge/queries";
import { useText } from "../i18n/text";
import { Button, TextField } from "../kit/controls";
import { ProblemNote } from "../kit/notes";
import { closedOf } from "../parts/closed";
import css from "./locked.module.css";

export function Locked({ status }: { status: StatusView }) {
  const text = useText();
  const cache = useQueryClient();
  const [passphrase, setPassphrase] = useState("");
  const unlock = useCommand("unlock", {
    onDone() {
      cache.setQueryData<StatusView>(["status"], (old) => old && { ...old, locked: false });
    },
  });
  const open = () => {
    // Not kept a moment longer than it takes to hand it over.
    setPassphrase("");
    unlock.mutate({ passphrase });
  };
  return (
    <main className={css.locked} data-testid="locked">
      <form
        className={css.card}
        onSubmit={(event) => {
          event.preventDefault();
          open();
        }}
      >
        <LockKeyhole aria-hidden size={34} strokeWidth={1.6} />
        <h1>{text("lock.title")}</h1>
        {/* Nothing goes on behind it before the laboratory is open. */}
        <p>{text(closedOf(status) ? "lock.more.closed" : "lock.more")}</p>
        {status.hasUnlockPassphrase && (
          <TextField
            label={text("lock.passphrase")}
            type="password"
            value={passphrase}
            onChange={setPassphrase}
            autoFocus
            data-testid="unlock-passphrase"
          />
        )}
        {unlock.error && <ProblemNote problem={unlock.error} />}
        <Button
          tone="primary"
          type="submit"
          isPending={unlock.isPending}
          autoFocus={!status.hasUnlockPassphrase}
          data-testid="unlock"
        >
          {text("lock.unlock")}
        </Button>
      </form>
    </main>
  );
}
