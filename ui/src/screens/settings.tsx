// Settings: language and look, the authority, sending.

import { LifeBuoy, LockKeyhole, Pencil, Plus } from "lucide-react";
import { useEffect, useState } from "react";

import { door } from "#door";

import type { EndpointView } from "../bridge/generated/EndpointView";
import { TEXT_SIZES, useSavePreferences } from "../bridge/preferences";
import { useCommand, useEndpoints, usePreferences, useStatus } from "../bridge/queries";
import { endpointName, useCodeText, useText } from "../i18n/text";
import { ConnectionTest } from "../parts/connection-test";
import { Button, Select, Switch } from "../kit/controls";
import { Notice, ReadProblem } from "../kit/notes";
import { useClosed } from "../parts/closed";
import { PassphraseDialog } from "../parts/passphrase-dialog";
import { LanguageChoice } from "../parts/rail";
import screen from "../kit/screen.module.css";
import { SupportDialog } from "../parts/support-dialog";
import { sayProblem } from "../kit/toasts";
import { Administration, AdministrationNotice, Guarded, useAdministrationClosed } from "../parts/administration";
import { Updates } from "../parts/updates";
import { WatchedFiles } from "../parts/watched-files";
import { WatchedFolder } from "../parts/watched";
import { HOME, fileName, useOnce, useWindow } from "../place";
import type { Section } from "../place";
import { Deadlines } from "./deadlines";
import { EndpointDialog } from "./endpoint-dialog";
import { EndpointEdit } from "./endpoint-edit";
import { ProductionDialog, wayTo } from "./production-dialog";
import { Rules } from "./rules";
import { Safekeeping } from "./safekeeping";
import css from "./settings.module.css";

const DENSITIES = ["comfortable", "compact"] as const;
const UNDO_SECONDS = ["0", "5", "10", "20", "30"];
/** Days in progress until a report needs attention. */
const ATTENTION_DAYS = ["1", "2", "3", "5", "7", "14", "30"];
/** What closing does while reports are under way. */
const CLOSINGS = ["ask", "background", "quit"] as const;
const THEMES = ["system", "light", "dark"] as const;

/** `adds`: the form for a new authority is open at once. `ca`: a file that is to be the CA of an authority. `at`: what
 *  comes into sight first. */
export function Settings(props: { adds?: boolean; ca?: string | undefined; at?: Section | undefined }) {
  const { adds = false, ca, at } = props;
  const text = useText();
  const { go } = useWindow();
  const isClosed = useClosed() !== null;
  useOnce(ca !== undefined, () => go(HOME.settings));
  useInSight(at && `settings-${at}`);
  return (
    <>
      <header className={screen.header}>
        <h1>{text("nav.settings")}</h1>
      </header>
      <div className={screen.body}>
        <div className={screen.columns}>
          <AdministrationNotice />
          <Look />
          <Endpoints adds={adds} file={ca} />
          <Sending />
          {/* The small ones stand where one column ends and the other begins: so both end at much the same height. */}
          <Lock />
          <Updates />
          <Administration />
          {/* Those of practice are nobody's, while the laboratory is closed. */}
          {!isClosed && (
            <>
              <Guarded id="settings-deadlines">
                <Deadlines />
              </Guarded>
              <Guarded id="settings-rules">
                <Rules />
              </Guarded>
            </>
          )}
          <Guarded id="settings-safekeeping">
            <Safekeeping />
          </Guarded>
          <Support />
        </div>
      </div>
    </>
  );
}

/** Brings a part into sight, also while what stands above it is still read, until the reader looks elsewhere. */
function useInSight(id: string | undefined): void {
  useEffect(() => {
    const part = id === undefined ? null : document.getElementById(id);
    if (!part?.parentElement) return;
    const grown = new ResizeObserver(() => part.scrollIntoView());
    grown.observe(part.parentElement);
    const stop = () => grown.disconnect();
    const acts = ["wheel", "pointerdown", "keydown"];
    for (const act of acts) addEventListener(act, stop, { once: true });
    return () => {
      stop();
      for (const act of acts) removeEventListener(act, stop);
    };
  }, [id]);
}

function Look() {
  const text = useText();
  const preferences = usePreferences();
  const save = useSavePreferences();
  const undo = String(preferences.data?.undoSeconds ?? 10);
  return (
    <section className={screen.card}>
      <h2>{text("settings.look")}</h2>
      <div className={css.setting}>
        <span>{text("settings.language")}</span>
        <LanguageChoice />
      </div>
      <div className={css.setting}>
        <span>{text("settings.theme")}</span>
        <Select
          label={text("settings.theme")}
          hideLabel
          value={preferences.data?.theme ?? "system"}
          choices={THEMES.map((id) => ({ id, name: text(`theme.${id}`) }))}
          onChange={(theme) => save({ theme })}
        />
      </div>
      <div className={css.setting}>
        <span>{text("settings.text-size")}</span>
        <Select
          label={text("settings.text-size")}
          hideLabel
          value={String(preferences.data?.textPercent ?? 100)}
          choices={TEXT_SIZES.map((percent) => ({ id: String(percent), name: `${percent} %` }))}
          onChange={(percent) => save({ textPercent: Number(percent) })}
          data-testid="text-size"
        />
      </div>
      <div className={css.setting}>
        <span>{text("settings.density")}</span>
        <Select
          label={text("settings.density")}
          hideLabel
          value={preferences.data?.density ?? "comfortable"}
          choices={DENSITIES.map((id) => ({ id, name: text(`settings.density.${id}`) }))}
          onChange={(density) => save({ density })}
        />
      </div>
      <div className={css.setting}>
        <span className={css.words}>
          <span>{text("settings.keys")}</span>
          <span>{text("settings.keys.more")}</span>
        </span>
        <Switch isSelected={preferences.data?.singleKeys ?? true} onChange={(singleKeys) => save({ singleKeys })}>
          <span className="visually-hidden">{text("settings.keys")}</span>
        </Switch>
      </div>
      <div className={css.setting}>
        <span className={css.words}>
          <span>{text("settings.undo")}</span>
          <span>{text("settings.undo.more")}</span>
        </span>
        <Select
          label={text("settings.undo")}
          hideLabel
          value={undo}
          choices={[...new Set([...UNDO_SECONDS, undo])].map((id) => ({
            id,
            name: text("settings.undo.seconds", { n: Number(id) }),
          }))}
          onChange={(seconds) => save({ undoSeconds: Number(seconds) })}
        />
      </div>
    </section>
  );
}

function Endpoints({ adds, file }: { adds: boolean; file: string | undefined }) {
  const text = useText();
  const words = useCodeText();
  const endpoints = useEndpoints();
  const [adding, setAdding] = useState(adds);
  const [leaving, setLeaving] = useState<EndpointView>();
  const [editing, setEditing] = useState<{ endpoint: EndpointView; caFile?: string | undefined }>();
  const [ca, setCa] = useState(file);
  const [isAtOnce, setAtOnce] = useState(true);
  const closed = useAdministrationClosed();
  const isClosed = useClosed() !== null;
  const inUse = endpoints.data?.find((endpoint) => endpoint.inUse);
  const real = endpoints.data?.filter(({ environment }) => environment !== "practice");
  // Where there is no choice, the file of a CA opens the authority at once. Whoever leaves that form may still choose.
  const meant = ca !== undefined && isAtOnce && !closed ? real : undefined;
  const [only] = meant?.length === 1 && !adding ? meant : [];
  const edited = editing ?? (only && { endpoint: only, caFile: ca });
  const use = useCommand("use_endpoint");
  const onError = sayProblem(text);
  const close = () => {
    setEditing(undefined);
    setAdding(false);
    setAtOnce(false);
  };
  const finish = () => {
    close();
    setCa(undefined);
  };
  const take = (endpoint: EndpointView) => {
    const go = () => use.mutate({ name: endpoint.name }, { onError });
    // Practice is left by no slip.
    if (wayTo(endpoint, inUse) !== "out") return setLeaving(endpoint);
    // Out of production, what the laboratory exports would go to a test system with one slip, also for whoever comes from
    // practice: the core knows which endpoint the laboratory has in use, as it is now.
    door.call("plan_endpoint", { name: endpoint.name }).then((plan) => {
      if (plan.leavesProduction && plan.watchedFolder !== null) setLeaving(endpoint);
      else go();
    }, onError);
  };
  return (
    <>
      <Guarded>
        <section className={screen.card}>
          <div className={screen.row}>
            <h2>{text("settings.endpoints")}</h2>
            {!isClosed && (
              <Button icon={Plus} onPress={() => setAdding(true)} data-testid="add-endpoint">
                {text("endpoint.add")}
              </Button>
            )}
          </div>
          {isClosed && <p className={screen.lead}>{text("closed.endpoints")}</p>}
          <ReadProblem of={endpoints} />
          {ca !== undefined && (
            <Notice
              tone="progress"
              title={text("endpoint.ca.for", { file: fileName(ca) })}
              actions={
                <>
                  {real?.map((endpoint) => (
                    <Button key={endpoint.name} onPress={() => setEditing({ endpoint, caFile: ca })}>
                      {endpoint.name}
                    </Button>
                  ))}
                  <Button tone="quiet" onPress={() => setCa(undefined)}>
                    {text("action.cancel")}
                  </Button>
                </>
              }
              data-testid="ca-for"
            >
              {text("endpoint.ca.for.more")}
            </Notice>
          )}
          <ul className={css.endpoints}>
            {endpoints.data?.map((endpoint) => (
              <li
                key={endpoint.name}
                className={endpoint.inUse ? css.inUse : ""}
                data-testid={`endpoint-${endpoint.environment}`}
              >
                <div className={css.endpoint}>
                  <strong>{endpointName(text, endpoint.name)}</strong>
                  <span>
                    {words("environment", endpoint.environment)} ·{" "}
                    {text("endpoint.release", { release: endpoint.release })}
                    {endpoint.ownCa && ` · ${text("endpoint.own-ca")}`}
                  </span>
                  <code className="selectable">{endpoint.baseUrl}</code>
                </div>
                <div className={screen.tools}>
                  {endpoint.environment !== "practice" && (
                    <Button
                      tone="quiet"
                      icon={Pencil}
                      label={text("endpoint.edit", { name: endpoint.name })}
                      onPress={() => setEditing({ endpoint })}
                    />
                  )}
                  {endpoint.inUse ? (
                    <span className={css.mark}>{text("endpoint.in-use")}</span>
                  ) : (
                    <Button onPress={() => take(endpoint)} isPending={use.isPending}>
                      {text("endpoint.use")}
                    </Button>
                  )}
                </div>
              </li>
            ))}
          </ul>
        </section>
      </Guarded>
      {inUse && <ConnectionTest key={inUse.name} endpoint={inUse} />}
      {edited && (
        <EndpointEdit
          key={edited.endpoint.name}
          {...edited}
          onDone={edited.caFile === undefined ? close : finish}
          onClose={close}
        />
      )}
      {(adding || meant?.length === 0) && <EndpointDialog caFile={ca} onDone={finish} onClose={close} />}
      {leaving && (
        <ProductionDialog
          endpoint={leaving}
          way={wayTo(leaving, inUse)}
          onConfirm={() => {
            use.mutate({ name: leaving.name }, { onError: sayProblem(text) });
            setLeaving(undefined);
          }}
          onClose={() => setLeaving(undefined)}
        />
      )}
    </>
  );
}

/** Never off: the shortest way to leave names on a screen is to forget it. */
const MINUTES = ["1", "2", "5", "10", "15", "30", "60"];

function Lock() {
  const text = useText();
  const status = useStatus();
  const preferences = usePreferences();
  const save = useSavePreferences();
  const [choosing, setChoosing] = useState(false);
  const hasOne = status.data?.hasUnlockPassphrase ?? false;
  const kept = String(preferences.data?.lockAfterMinutes ?? 10);
  const choices = MINUTES.includes(kept) ? MINUTES : [...MINUTES, kept];
  return (
    <section className={screen.card}>
      <h2>{text("settings.lock")}</h2>
      <div className={css.setting}>
        <span className={css.words}>
          <span>{text("settings.lock.after")}</span>
          <span>{text("settings.lock.after.more")}</span>
        </span>
        <Select
          label={text("settings.lock.after")}
          hideLabel
          value={kept}
          choices={choices.map((id) => ({ id, name: text("settings.lock.minutes", { n: Number(id) }) }))}
          onChange={(minutes) => save({ lockAfterMinutes: Number(minutes) })}
        />
      </div>
      <div className={css.setting}>
        <span className={css.words}>
          <span>{text("settings.lock.passphrase")}</span>
          <span>{text(hasOne ? "settings.lock.passphrase.set" : "settings.lock.passphrase.none")}</span>
        </span>
        <Guarded>
          <Button icon={LockKeyhole} onPress={() => setChoosing(true)} data-testid="choose-passphrase">
            {text(hasOne ? "lock.change" : "lock.choose")}
          </Button>
        </Guarded>
      </div>
      {choosing && <PassphraseDialog of="lock" hasOne={hasOne} onClose={() => setChoosing(false)} />}
    </section>
  );
}

function Support() {
  const text = useText();
  const status = useStatus();
  const [open, setOpen] = useState(false);
  return (
    <section className={screen.card}>
      <h2>{text("settings.support")}</h2>
      <div className={css.setting}>
        <span className={css.words}>
          <span>{text("support.title")}</span>
          <span>{text("settings.support.more")}</span>
        </span>
        <Button icon={LifeBuoy} onPress={() => setOpen(true)} data-testid="support">
          {text("settings.support.show")}
        </Button>
      </div>
      <p className={screen.lead}>{text("settings.version", { version: status.data?.version ?? "" })}</p>
      {open && <SupportDialog onClose={() => setOpen(false)} />}
    </section>
  );
}

/** What is set for the laboratory, or for practice. */
function SendingHere() {
  const text = useText();
  const status = useStatus();
  const pause = useCommand("set_paused");
  const patience = useCommand("set_attention_days");
  const days = String(status.data?.attentionDays ?? 3);
  const onError = sayProblem(text);
  return (
    <>
      <Switch isSelected={status.data?.paused ?? false} onChange={(paused) => pause.mutate({ paused }, { onError })}>
        <span className={css.words}>
          <span>{text("settings.pause")}</span>
          <span>{text("settings.pause.more")}</span>
        </span>
      </Switch>
      <Guarded>
        <WatchedFolder />
      </Guarded>
      <WatchedFiles />
      <div className={css.setting}>
        <span className={css.words}>
          <span>{text("settings.attention")}</span>
          <span>{text("settings.attention.more")}</span>
        </span>
        <Guarded>
          <Select
            label={text("settings.attention")}
            hideLabel
            value={days}
            choices={[...new Set([...ATTENTION_DAYS, days])].map((id) => ({
              id,
              name: text("settings.attention.days", { n: Number(id) }),
            }))}
            onChange={(chosen) => patience.mutate({ days: Number(chosen) }, { onError })}
            data-testid="attention-days"
          />
        </Guarded>
      </div>
    </>
  );
}

function Sending() {
  const text = useText();
  const preferences = usePreferences();
  const save = useSavePreferences();
  const isClosed = useClosed() !== null;
  return (
    <section className={screen.card}>
      <h2>{text("settings.sending")}</h2>
      {!isClosed && <SendingHere />}
      <div className={css.setting}>
        <span className={css.words}>
          <span>{text("settings.close")}</span>
          <span>{text("settings.close.more")}</span>
        </span>
        <Select
          label={text("settings.close")}
          hideLabel
          value={preferences.data?.onClose ?? "ask"}
          choices={CLOSINGS.map((id) => ({ id, name: text(`settings.close.${id}`) }))}
          onChange={(onClose) => save({ onClose })}
        />
      </div>
      <div className={css.setting}>
        <span className={css.words}>
          <span>{text("settings.login")}</span>
          <span>{text("settings.login.more")}</span>
        </span>
        <Switch
          isSelected={preferences.data?.startAtLogin ?? false}
          onChange={(startAtLogin) => save({ startAtLogin })}
        >
          <span className="visually-hidden">{text("settings.login")}</span>
        </Switch>
      </div>
      <div className={css.setting}>
        <span className={css.words}>
          <span>{text("settings.notifications")}</span>
          <span>{text("settings.notifications.more")}</span>
        </span>
        <Switch
          isSelected={preferences.data?.notifications ?? true}
          onChange={(notifications) => save({ notifications })}
        >
          <span className="visually-hidden">{text("settings.notifications")}</span>
        </Switch>
      </div>
    </section>
  );
}
