// A backup takes the place of the laboratory's journal: which one, what that means, the word that is typed, and what came of
// it. The core closes the room for it and opens it again.

import { History } from "lucide-react";
import { useLayoutEffect, useRef, useState } from "react";

import type { BackupView } from "../bridge/generated/BackupView";
import type { RestorePlanView } from "../bridge/generated/RestorePlanView";
import type { RestoredView } from "../bridge/generated/RestoredView";
import { useCommand, useRestorePlan } from "../bridge/queries";
import { useFormat, useText } from "../i18n/text";
import { Button, Select, TextField } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import { Notice, ProblemNote, ReadProblem } from "../kit/notes";
import css from "./settings.module.css";

export function Restore({ backups }: { backups: BackupView[] }) {
  const text = useText();
  const [open, setOpen] = useState(false);
  return (
    <div className={css.setting}>
      <span className={css.words}>
        <span>{text("restore.title")}</span>
        <span>{text(backups.length > 0 ? "restore.more" : "restore.none")}</span>
      </span>
      <Button icon={History} isDisabled={backups.length === 0} onPress={() => setOpen(true)} data-testid="restore">
        {text("restore.choose")}
      </Button>
      {open && <RestoreDialog backups={backups} onClose={() => setOpen(false)} />}
    </div>
  );
}

const keyOf = ({ name, elsewhere }: BackupView) => `${elsewhere ? "elsewhere" : "here"} ${name}`;

/** What is chosen and typed before a restore, and how it is begun. */
function useRestoring(backups: BackupView[]) {
  const text = useText();
  // Those that were there when it was opened: what is made meanwhile must not change what was read.
  const [listed] = useState(backups);
  const [chosen, setChosen] = useState<BackupView>();
  const [typed, setTyped] = useState("");
  const [passphrase, setPassphrase] = useState("");
  const plan = useRestorePlan(chosen);
  const restore = useCommand("restore_backup");
  const word = text("restore.word");
  const isTyped = typed.trim().toLowerCase() === word.toLowerCase();
  const isReady = plan.data !== undefined && isTyped && (!plan.data.needsPassphrase || passphrase !== "");
  const begin = () => {
    if (!chosen || !isReady || restore.isPending) return;
    const { name, elsewhere } = chosen;
    // Not kept a moment longer than it takes to hand it over.
    setPassphrase("");
    restore.mutate({ name, elsewhere, passphrase });
  };
  const choose = (key: string) => {
    setChosen(listed.find((backup) => keyOf(backup) === key));
    setTyped("");
    restore.reset();
  };
  return { listed, chosen, choose, plan, word, typed, setTyped, passphrase, setPassphrase, isReady, begin, restore };
}

type Restoring = ReturnType<typeof useRestoring>;

/** One dialog from the choice to what came of it: the keyboard finds its way back from it. */
function RestoreDialog({ backups, onClose }: { backups: BackupView[]; onClose: () => void }) {
  const text = useText();
  const of = useRestoring(backups);
  const { data: done, error, isPending } = of.restore;
  // Whoever closes it at work would not hear what became of the journal.
  const close = () => {
    if (!isPending) onClose();
  };
  // The fields go while it is at work: the keyboard stays with what is told.
  const told = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (isPending || done) told.current?.focus({ preventScroll: true });
  }, [isPending, done]);
  const footer = done ? (
    <Button tone="primary" onPress={onClose} data-testid="restore-close">
      {text("action.close")}
    </Button>
  ) : (
    <>
      <Button tone="quiet" isDisabled={isPending} onPress={close}>
        {text("action.cancel")}
      </Button>
      <Button
        tone="danger"
        isDisabled={!of.isReady && !isPending}
        isPending={isPending}
        onPress={of.begin}
        data-testid="restore-confirm"
      >
        {text("restore.confirm")}
      </Button>
    </>
  );
  const isDirty = !done && !isPending && of.typed + of.passphrase !== "";
  return (
    <Dialog title={text("restore.title")} isDirty={isDirty} onClose={close} footer={footer}>
      {!done && <Choice of={of} />}
      <div role="status" ref={told} tabIndex={-1} data-testid="restore-told">
        {isPending && (
          <Notice tone="progress" title={text("restore.running")} data-testid="restore-running">
            {text("restore.running.more")}
          </Notice>
        )}
        {done && of.chosen && <Done done={done} at={of.chosen.at} />}
      </div>
      {done?.closed && (
        <>
          <p>{text("restore.closed")}</p>
          <ProblemNote problem={done.closed} />
        </>
      )}
      {error && <ProblemNote problem={error} />}
    </Dialog>
  );
}

/** Which backup, what that means, and the word. */
function Choice({ of }: { of: Restoring }) {
  const text = useText();
  const format = useFormat();
  const { chosen, plan, restore } = of;
  return (
    <>
      <Select
        label={text("restore.which")}
        value={chosen ? keyOf(chosen) : ""}
        placeholder={text("restore.which.none")}
        choices={of.listed.map((backup) => ({
          id: keyOf(backup),
          name: text(backup.elsewhere ? "restore.elsewhere" : "restore.here", { time: format.exact(backup.at) }),
        }))}
        onChange={(key) => !restore.isPending && of.choose(key)}
        data-testid="restore-which"
      />
      <ReadProblem of={plan} />
      {plan.data && <Meaning plan={plan.data} />}
      {plan.data && !restore.isPending && (
        <form
          className={css.fields}
          onSubmit={(event) => {
            event.preventDefault();
            of.begin();
          }}
        >
          {plan.data.needsPassphrase && (
            <TextField
              label={text("restore.passphrase")}
              type="password"
              value={of.passphrase}
              onChange={of.setPassphrase}
              data-testid="restore-passphrase"
            />
          )}
          <TextField
            label={text("production.type", { word: of.word })}
            value={of.typed}
            onChange={of.setTyped}
            data-testid="restore-word"
          />
          {/* Enter begins it, from each of the two fields. */}
          <button type="submit" hidden />
        </form>
      )}
    </>
  );
}

/** In plain words, before the word is typed. */
function Meaning({ plan }: { plan: RestorePlanView }) {
  const text = useText();
  const since = plan.reportsSince;
  return (
    <ul data-testid="restore-plan" className={css.meaning}>
      <li>{since === null ? text("restore.since.unknown") : text("restore.since", { n: since })}</li>
      <li>{text("restore.asked-first")}</li>
      <li>{text("restore.aside")}</li>
      <li>{text("restore.back")}</li>
      <li>{text("restore.takes")}</li>
    </ul>
  );
}

/** What came of it. */
function Done({ done, at }: { done: RestoredView; at: string }) {
  const text = useText();
  const format = useFormat();
  return (
    <Notice tone="done" title={text("restore.done", { time: format.exact(at) })} data-testid="restore-done">
      <p>{text("restore.done.reports", { n: done.reports })}</p>
      {done.salvaged > 0 && <p>{text("restore.done.salvaged", { n: done.salvaged })}</p>}
      {done.doubted > 0 && <p>{text("restore.done.doubted", { n: done.doubted })}</p>}
      {done.lost > 0 && <p>{text("restore.done.lost", { n: done.lost })}</p>}
      {done.editedLost > 0 && <p>{text("restore.done.edited", { n: done.editedLost })}</p>}
      <p>{text("restore.done.aside")}</p>
    </Notice>
  );
}
