// A computer without a keychain: keys rest in a file that a passphrase seals. It is chosen once, and asked for at
// each start.

import { LockKeyhole } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { useCommand } from "../bridge/queries";
import { useText } from "../i18n/text";
import { Button, TextField } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import { Notice, ProblemNote } from "../kit/notes";
import { showInside } from "../kit/scroll";
import { isShort, lackOf } from "./passphrase";

/** As the core has it. */
const LENGTH_MIN = 12;

/** Offered where something was to be kept and there is no keychain. */
export function VaultOffer({ onDone }: { onDone: () => void }) {
  const text = useText();
  const [choosing, setChoosing] = useState(false);
  const own = useRef<HTMLDivElement>(null);
  // Whoever pressed a button below a long form would look for it in vain.
  useEffect(() => showInside(own.current), []);
  return (
    <div ref={own} data-testid="vault-offer">
      <Notice
        tone="caution"
        icon={LockKeyhole}
        title={text("vault.offer")}
        actions={
          <Button tone="primary" onPress={() => setChoosing(true)} data-testid="vault-choose">
            {text("vault.choose")}
          </Button>
        }
      >
        {text("vault.offer.more")}
      </Notice>
      {choosing && (
        <NewVault
          onClose={() => setChoosing(false)}
          onDone={() => {
            setChoosing(false);
            onDone();
          }}
        />
      )}
    </div>
  );
}

function NewVault({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const text = useText();
  const [chosen, setChosen] = useState("");
  const [again, setAgain] = useState("");
  const make = useCommand("protect_with_passphrase", { onDone });
  const lack = lackOf(chosen, again, LENGTH_MIN);
  return (
    <Dialog
      title={text("vault.title")}
      size="small"
      isDirty={chosen + again !== ""}
      onClose={onClose}
      footer={
        <>
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button
            tone="primary"
            isDisabled={lack !== null}
            isPending={make.isPending}
            onPress={() => make.mutate({ passphrase: chosen })}
            data-testid="vault-make"
          >
            {text("vault.make")}
          </Button>
        </>
      }
    >
      <p>{text("vault.title.more", { n: LENGTH_MIN })}</p>
      <TextField
        label={text("vault.passphrase")}
        type="password"
        value={chosen}
        onChange={setChosen}
        autoFocus
        help={isShort(chosen, LENGTH_MIN) ? text("passphrase.short", { n: LENGTH_MIN }) : undefined}
        data-testid="vault-new"
      />
      <TextField
        label={text("vault.again")}
        type="password"
        value={again}
        onChange={setAgain}
        help={lack === "again" ? text("passphrase.again") : undefined}
        error={lack === "differs" ? text("vault.differs") : undefined}
        data-testid="vault-again"
      />
      {make.error && <ProblemNote problem={make.error} />}
    </Dialog>
  );
}

/** Above every screen as long as the laboratory's keys are sealed: nothing real is sent meanwhile. */
export function VaultSealed() {
  const text = useText();
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Notice
        tone="attention"
        icon={LockKeyhole}
        title={text("vault.sealed")}
        role="alert"
        actions={
          <Button tone="primary" onPress={() => setAsking(true)} data-testid="vault-open">
            {text("vault.open")}
          </Button>
        }
      >
        {text("vault.sealed.more")}
      </Notice>
      {asking && <OpenVault onClose={() => setAsking(false)} />}
    </>
  );
}

export function OpenVault({ onClose }: { onClose: () => void }) {
  const text = useText();
  const [passphrase, setPassphrase] = useState("");
  const open = useCommand("open_vault", { onDone: onClose });
  return (
    <Dialog
      title={text("vault.open.title")}
      size="small"
      onClose={onClose}
      footer={
        <>
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button
            tone="primary"
            isDisabled={passphrase === ""}
            isPending={open.isPending}
            onPress={() => open.mutate({ passphrase })}
            data-testid="vault-unseal"
          >
            {text("vault.open")}
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (passphrase !== "") open.mutate({ passphrase });
        }}
      >
        <TextField
          label={text("vault.passphrase")}
          type="password"
          value={passphrase}
          onChange={setPassphrase}
          autoFocus
          data-testid="vault-passphrase"
        />
      </form>
      {open.error && <ProblemNote problem={open.error} />}
    </Dialog>
  );
}
