// A newer version of the program: what is known of it, and the way to it. Nothing is installed that nobody has asked for.

import { PackageCheck, RefreshCw } from "lucide-react";
import { useState } from "react";

import type { UpdateReason } from "../bridge/generated/UpdateReason";
import type { UpdatesView } from "../bridge/generated/UpdatesView";
import { useCommand, useUpdates } from "../bridge/queries";
import { useFormat, useText } from "../i18n/text";
import type { Text } from "../i18n/text";
import { Button, Switch } from "../kit/controls";
import { Confirm } from "../kit/dialog";
import { Notice, ReadProblem } from "../kit/notes";
import screen from "../kit/screen.module.css";
import { say, sayProblem } from "../kit/toasts";
import css from "../screens/settings.module.css";
import { HOME, useWindow } from "../place";
import { Guarded } from "./administration";
import rail from "./rail.module.css";

/** Somebody may have changed the file: that is to be seen, and not read among others. */
const CHANGED: UpdateReason[] = ["signature-wrong", "signed-for-other"];

/** One sentence: where it stands. */
function standing(text: Text, view: UpdatesView): string {
  const reason = view.reason === null ? "" : text(`updates.reason.${view.reason}`);
  return text(`updates.state.${view.state}`, { version: view.version ?? "", file: view.file, reason });
}

/** In the settings: the state, the way to look now, and the switch. */
export function Updates() {
  const text = useText();
  const format = useFormat();
  const known = useUpdates();
  const look = useCommand("look_for_updates");
  const choose = useCommand("set_updates");
  if (known.error) return <ReadProblem of={known} />;
  const view = known.data;
  if (!view) return null;
  const onError = sayProblem(text);
  const mayAsk = view.address !== null;
  const isOn = view.state !== "switched-off";
  return (
    <section className={screen.card} data-testid="updates">
      <h2>{text("updates.title")}</h2>
      {view.state === "ready" ? (
        <Ready version={view.version ?? ""} />
      ) : (
        <div data-testid="updates-state" data-state={view.state}>
          {view.reason !== null && CHANGED.includes(view.reason) ? (
            <Notice tone="attention">
              <p>{standing(text, view)}</p>
            </Notice>
          ) : (
            <p className={screen.lead}>{standing(text, view)}</p>
          )}
        </div>
      )}
      {mayAsk && (
        <>
          {isOn && (
            <div className={css.setting}>
              <span className={css.words}>
                <span>{text("updates.asks")}</span>
                <code className="selectable">{view.address}</code>
                {view.asked !== null && <span>{text("updates.asked", { time: format.moment(view.asked) })}</span>}
              </span>
              <Button
                icon={RefreshCw}
                isPending={look.isPending}
                onPress={() => look.mutate(undefined, { onError })}
                data-testid="updates-look"
              >
                {text("updates.look")}
              </Button>
            </div>
          )}
          <Guarded>
            <div className={css.setting}>
              <span className={css.words}>
                <span>{text("updates.switch")}</span>
                <span>{text("updates.switch.more")}</span>
              </span>
              <Switch isSelected={isOn} onChange={(on) => choose.mutate({ on }, { onError })}>
                <span className="visually-hidden">{text("updates.switch")}</span>
              </Switch>
            </div>
          </Guarded>
        </>
      )}
    </section>
  );
}

function Ready({ version }: { version: string }) {
  const text = useText();
  const [asking, setAsking] = useState(false);
  const install = useCommand("install_update", {
    onDone: (opened) =>
      opened && say({ tone: "done", title: text("updates.opened"), more: text("updates.opened.more") }),
  });
  return (
    <>
      <Notice
        tone="progress"
        icon={PackageCheck}
        title={text("updates.state.ready", { version })}
        data-testid="update-ready"
        actions={
          <Guarded>
            <Button isPending={install.isPending} onPress={() => setAsking(true)} data-testid="update-install">
              {text("updates.install")}
            </Button>
          </Guarded>
        }
      >
        <p>{text("updates.ready.more")}</p>
      </Notice>
      {asking && (
        <Confirm
          title={text("updates.confirm", { version })}
          confirm={text("updates.confirm.go")}
          isPending={install.isPending}
          data-testid="update-confirm"
          onConfirm={() => {
            setAsking(false);
            install.mutate(undefined, { onError: sayProblem(text) });
          }}
          onClose={() => setAsking(false)}
        >
          <p>{text("updates.confirm.more")}</p>
        </Confirm>
      )}
    </>
  );
}

/** In the rail: that there is one, and where it is installed. */
export function UpdateLine() {
  const text = useText();
  const { go } = useWindow();
  const view = useUpdates().data;
  if (view?.state !== "ready") return null;
  return (
    <button type="button" className={rail.update} onClick={() => go(HOME.settings)} data-testid="update-line">
      <PackageCheck aria-hidden size={15} />
      <span>{text("updates.state.ready", { version: view.version ?? "" })}</span>
    </button>
  );
}
