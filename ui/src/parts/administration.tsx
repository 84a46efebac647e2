// What only administrators change, on a computer that several people share: it is in sight of everybody, and open to whoever
// knows the passphrase, until the window is locked. The core refuses what is not open, whatever stands here.

import { History, KeyRound, LockKeyhole } from "lucide-react";
import { useState } from "react";
import type { ReactNode } from "react";

import { useCommand, useStatus } from "../bridge/queries";
import { useText } from "../i18n/text";
import type { TextId } from "../i18n/text";
import { Button, TextField } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import { Notice, ProblemNote } from "../kit/notes";
import screen from "../kit/screen.module.css";
import { sayProblem } from "../kit/toasts";
import settings from "../screens/settings.module.css";
import css from "./administration.module.css";
import { AuditLog } from "./audit-log";
import { PassphraseDialog } from "./passphrase-dialog";

export const useAdministrationClosed = (): boolean => useStatus().data?.administrationClosed ?? false;

/** Settings that administrators alone change: seen by everybody. */
export function Guarded({ children, id }: { children: ReactNode; id?: string }) {
  return (
    <fieldset id={id} className={css.guarded} disabled={useAdministrationClosed()}>
      {children}
    </fieldset>
  );
}

/** Above guarded settings: why they do not answer (`closed`, where somebody has tried something), and the way in; once open,
 *  how long. */
export function AdministrationNotice({ closed = "administration.closed" }: { closed?: TextId }) {
  const text = useText();
  const status = useStatus().data;
  const [entering, setEntering] = useState(false);
  const close = useCommand("close_administration");
  if (!status?.hasAdministrationPassphrase) return null;
  const isClosed = status.administrationClosed;
  return (
    <div className={css.notice} data-testid="administration-notice" data-closed={isClosed}>
      <Notice
        tone={closed === "administration.closed" ? "progress" : "attention"}
        icon={isClosed ? LockKeyhole : KeyRound}
        title={text(isClosed ? closed : "administration.opened")}
        actions={
          isClosed ? (
            <Button icon={KeyRound} onPress={() => setEntering(true)} data-testid="administration-enter">
              {text("administration.enter")}
            </Button>
          ) : (
            <Button
              icon={LockKeyhole}
              isPending={close.isPending}
              onPress={() => close.mutate(undefined, { onError: sayProblem(text) })}
              data-testid="administration-close"
            >
              {text("administration.close")}
            </Button>
          )
        }
      />
      {entering && isClosed && <EnterDialog onClose={() => setEntering(false)} />}
    </div>
  );
}

function EnterDialog({ onClose }: { onClose: () => void }) {
  const text = useText();
  const [passphrase, setPassphrase] = useState("");
  const open = useCommand("open_administration", { onDone: onClose });
  const enter = () => {
    // Not kept a moment longer than it takes to hand it over.
    setPassphrase("");
    open.mutate({ passphrase });
  };
  return (
    <Dialog
      title={text("administration.enter")}
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
            onPress={enter}
            data-testid="administration-open"
          >
            {text("administration.open")}
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (passphrase !== "") enter();
        }}
      >
        <TextField
          label={text("administration.passphrase")}
          type="password"
          value={passphrase}
          onChange={setPassphrase}
          autoFocus
          data-testid="administration-passphrase"
        />
      </form>
      {open.error && <ProblemNote problem={open.error} />}
    </Dialog>
  );
}

/** Who may change these settings. */
export function Administration() {
  const text = useText();
  const hasOne = useStatus().data?.hasAdministrationPassphrase ?? false;
  const [choosing, setChoosing] = useState(false);
  const [looking, setLooking] = useState(false);
  return (
    <section className={screen.card} data-testid="administration">
      <h2>{text("administration.title")}</h2>
      <p className={screen.lead}>{text(hasOne ? "administration.set" : "administration.none")}</p>
      <div>
        <Button icon={KeyRound} onPress={() => setChoosing(true)} data-testid="administration-choose">
          {text(hasOne ? "lock.change" : "lock.choose")}
        </Button>
      </div>
      <div className={settings.setting}>
        <span className={settings.words}>
          <span>{text("audit.title")}</span>
          <span>{text("audit.more")}</span>
        </span>
        <Button icon={History} onPress={() => setLooking(true)} data-testid="audit-log">
          {text("audit.show")}
        </Button>
      </div>
      {looking && <AuditLog onClose={() => setLooking(false)} />}
      {choosing && <PassphraseDialog of="administration" hasOne={hasOne} onClose={() => setChoosing(false)} />}
    </section>
  );
}
