// Backups of the laboratory's journal, their second place, and the journals that were set aside: what is kept, where, for how
// long, how it is put back and how it is removed. Practice has nothing to keep.

import { Archive, FolderOpen, LockKeyhole, ShieldCheck, Trash2, X } from "lucide-react";
import { useState } from "react";

import { door } from "#door";

import type { SetAsideView } from "../bridge/generated/SetAsideView";
import { useCommand, useSafekeeping } from "../bridge/queries";
import { useFormat, useText } from "../i18n/text";
import { Button } from "../kit/controls";
import { Confirm } from "../kit/dialog";
import { ReadProblem } from "../kit/notes";
import screen from "../kit/screen.module.css";
import { say, sayProblem } from "../kit/toasts";
import { useClosed } from "../parts/closed";
import { PassphraseDialog } from "../parts/passphrase-dialog";
import { Restore } from "./restore";
import { Retention } from "./retention";
import css from "./settings.module.css";

export function Safekeeping() {
  const text = useText();
  const format = useFormat();
  const kept = useSafekeeping();
  const [removing, setRemoving] = useState<SetAsideView>();
  const [changing, setChanging] = useState(false);
  const closed = useClosed() !== null;
  const place = useCommand("set_backup_place", {
    onDone: (n, { path }) => path !== null && say({ tone: "done", title: text("safe.copied", { n }) }),
  });
  const backUp = useCommand("back_up", { onDone: () => say({ tone: "done", title: text("safe.now.done") }) });
  const check = useCommand("check_journal", {
    onDone: (n) => say({ tone: "done", title: text("safe.check.sound", { n }) }),
  });
  if (kept.error) return <ReadProblem of={kept} />;
  const view = kept.data;
  if (!view) return null;
  const onError = sayProblem(text);
  const choose = () =>
    void door
      .call("choose_folder", { purpose: "backups" })
      .then((path) => path !== null && place.mutate({ path }, { onError }), onError);
  // It may be made although its copy is not: that is shown too.
  const now = () => backUp.mutate(undefined, { onError, onSettled: () => void kept.refetch() });
  const { backups, lastBackup, backupPlace, setAside } = view;
  return (
    <section className={screen.card} data-testid="safekeeping">
      <h2>{text("safe.title")}</h2>
      <div className={css.setting}>
        <span className={css.words}>
          <span>{text("safe.local")}</span>
          <span>{text("safe.local.facts", { n: backups, time: lastBackup ? format.at(lastBackup) : "" })}</span>
        </span>
        <Button icon={Archive} onPress={now} isPending={backUp.isPending} data-testid="backup-now">
          {text("safe.now")}
        </Button>
      </div>
      <div className={css.setting}>
        <span className={css.words}>
          <span>{text("safe.check")}</span>
          <span>{text("safe.check.more")}</span>
        </span>
        <Button
          icon={ShieldCheck}
          onPress={() => check.mutate(undefined, { onError })}
          isPending={check.isPending}
          data-testid="check-journal"
        >
          {text("safe.check.now")}
        </Button>
      </div>
      <div className={css.setting}>
        <span className={css.words}>
          <span>{text("safe.place")}</span>
          <span data-testid="backup-place">{backupPlace ?? text("safe.place.none")}</span>
        </span>
        <div className={screen.tools}>
          <Button icon={FolderOpen} onPress={choose} isPending={place.isPending} data-testid="backup-place-choose">
            {text("safe.place.choose")}
          </Button>
          {backupPlace !== null && (
            <Button
              tone="quiet"
              icon={X}
              label={text("safe.place.stop")}
              onPress={() => place.mutate({ path: null }, { onError })}
              data-testid="backup-place-stop"
            />
          )}
        </div>
      </div>
      {view.needsPassphrase && !closed && (
        <div className={css.setting}>
          <span className={css.words}>
            <span>{text("vault.setting")}</span>
            <span>{text("vault.setting.more")}</span>
          </span>
          <Button icon={LockKeyhole} onPress={() => setChanging(true)} data-testid="vault-change">
            {text("lock.change")}
          </Button>
        </div>
      )}
      <Restore backups={view.restorable} />
      <Retention kept={view} />
      {setAside.length > 0 && (
        <>
          <div className={css.setting}>
            <span className={css.words}>
              <span>{text("safe.aside")}</span>
              <span>{text("safe.aside.more")}</span>
            </span>
          </div>
          <ul className={css.endpoints}>
            {setAside.map((one) => (
              <li key={one.name} data-testid="set-aside">
                <div className={css.endpoint}>
                  <strong>
                    {text("safe.aside.facts", { time: format.exact(one.at), size: format.bytes(one.bytes) })}
                  </strong>
                  <code className="selectable">{one.name}</code>
                </div>
                <Button tone="quiet" icon={Trash2} onPress={() => setRemoving(one)} data-testid="set-aside-remove">
                  {text("safe.aside.remove")}
                </Button>
              </li>
            ))}
          </ul>
        </>
      )}
      {changing && <PassphraseDialog of="vault" hasOne onClose={() => setChanging(false)} />}
      {removing && <RemoveDialog aside={removing} onClose={() => setRemoving(undefined)} />}
    </section>
  );
}

/** Nothing brings it back: it is asked for once more. */
function RemoveDialog({ aside, onClose }: { aside: SetAsideView; onClose: () => void }) {
  const text = useText();
  const format = useFormat();
  const remove = useCommand("remove_set_aside", {
    onDone() {
      onClose();
      say({ tone: "done", title: text("safe.aside.removed") });
    },
  });
  return (
    <Confirm
      title={text("safe.aside.ask")}
      confirm={text("safe.aside.remove")}
      tone="danger"
      isPending={remove.isPending}
      problem={remove.error}
      onConfirm={() => remove.mutate({ name: aside.name })}
      onClose={onClose}
      data-testid="set-aside-confirm"
    >
      <p>{text("safe.aside.facts", { time: format.exact(aside.at), size: format.bytes(aside.bytes) })}</p>
      <p>{text("safe.aside.ask.more")}</p>
    </Confirm>
  );
}
