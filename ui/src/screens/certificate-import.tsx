// Importing a certificate: the files, the password, what they contain; only then is it stored.

import { FileKey2, ShieldCheck } from "lucide-react";
import { useMemo, useState } from "react";

import { door } from "#door";

import type { Problem } from "../bridge/generated/Problem";
import { useCertificateLook, useCommand, useEndpoints, useStatus } from "../bridge/queries";
import { useText } from "../i18n/text";
import { IS_CA, UseAsCa } from "../parts/certificate-button";
import { CertificateFacts, Validity } from "../parts/certificate-facts";
import { Layers } from "../parts/connection-test";
import { Button, Select, TextField } from "../kit/controls";
import { Notice, ProblemNote, problemText } from "../kit/notes";
import screen from "../kit/screen.module.css";
import { say, sayProblem } from "../kit/toasts";
import { VaultOffer } from "../parts/vault";
import css from "./certificate-import.module.css";

/** The files offered, dropped or chosen; `turn` grows with each offer. */
export interface CertificateFiles {
  paths: string[];
  turn: number;
  offer: (paths: string[]) => void;
  choose: () => void;
  clear: () => void;
}

export function useCertificateFiles(): CertificateFiles {
  const text = useText();
  const [{ paths, turn }, set] = useState<{ paths: string[]; turn: number }>({ paths: [], turn: 0 });
  return useMemo(() => {
    const offer = (next: string[]) => next.length > 0 && set((old) => ({ paths: next, turn: old.turn + 1 }));
    return {
      paths,
      turn,
      offer,
      choose: () => void door.call("choose_files", { purpose: "certificate" }).then(offer, sayProblem(text)),
      clear: () => set((old) => ({ paths: [], turn: old.turn + 1 })),
    };
  }, [paths, turn, text]);
}

/** Answers to a look without a password that ask for one. */
const SEALED: ReadonlySet<string> = new Set(["certificate-password-needed", "certificate-wrong-password"]);

/** What no password makes a certificate of the laboratory: what it is instead, and where it belongs. */
function Refused({ problem, files }: { problem: Problem; files: CertificateFiles }) {
  const text = useText();
  const [path, ...others] = files.paths;
  const isCa = problem.code === IS_CA && path !== undefined && others.length === 0;
  const said = problemText(text, problem);
  return (
    <>
      {isCa ? (
        <Notice
          tone="progress"
          role="status"
          title={said.title}
          actions={<UseAsCa path={path} autoFocus onPress={files.clear} />}
        >
          {said.more}
        </Notice>
      ) : (
        <ProblemNote problem={problem} />
      )}
      <div className={css.actions}>
        <Button tone="quiet" autoFocus={!isCa} onPress={files.clear}>
          {text("action.cancel")}
        </Button>
      </div>
    </>
  );
}

export function CertificateImport({ files }: { files: CertificateFiles }) {
  const text = useText();
  const [password, setPassword] = useState("");
  const practice = useStatus().data?.environment === "practice";
  const look = useCertificateLook(files.paths);
  const inspect = useCommand("certificate_inspect");
  const store = useCommand("certificate_import", {
    onDone() {
      say({
        tone: "done",
        title: text("certificate.stored"),
        more: text(
          others.length === 0
            ? "certificate.stored.unused"
            : practice
              ? "certificate.stored.practice"
              : "certificate.stored.more",
        ),
      });
      files.clear();
    },
  });
  const takes = { paths: files.paths, password };
  const [endpoint, setEndpoint] = useState("");
  const others = (useEndpoints().data ?? []).filter(({ environment }) => environment !== "practice");
  const whole = { ...takes, endpoint: endpoint || null };
  const keep = () => store.mutate(whole);
  // The one in use stays until the authority has accepted this one, or somebody decides otherwise.
  const trial = useCommand("certificate_try");
  const refused = trial.data?.some(({ outcome }) => outcome !== "passed") ? trial.data : undefined;
  // Before its layer is reached, nobody has said anything of the certificate.
  const refusal = refused?.some(({ layer, outcome }) => layer === "client-certificate" && outcome === "failed")
    ? "certificate.not-accepted"
    : "certificate.not-tested";
  const tryAndKeep = () =>
    trial.mutate(whole, { onSuccess: (probes) => probes.every(({ outcome }) => outcome === "passed") && keep() });
  const found = inspect.data ?? look.data;
  const refusedFile = look.error && !SEALED.has(look.error.code) ? look.error : undefined;
  return (
    <section className={`${screen.card} ${css.import}`} data-takes-focus="own" aria-label={text("certificate.import")}>
      <div className={screen.row}>
        <h2>{text("certificate.import")}</h2>
        <Button tone="quiet" onPress={files.choose}>
          {text("certificate.other-files")}
        </Button>
      </div>
      <ul className={css.files}>
        {files.paths.map((path) => (
          <li key={path}>
            <FileKey2 aria-hidden size={16} />
            <span className={css.path}>{path.split(/[/\\]/).at(-1)}</span>
          </li>
        ))}
      </ul>
      {refusedFile && <Refused problem={refusedFile} files={files} />}
      {!found && look.error && !refusedFile && (
        <form
          className={css.password}
          onSubmit={(event) => {
            event.preventDefault();
            const [field] = event.currentTarget.getElementsByTagName("input");
            // What was wrong is typed over by the next key.
            inspect.mutate(takes, {
              onError() {
                field?.focus();
                field?.select();
              },
            });
          }}
        >
          <p data-testid="certificate-sealed">{text("certificate.sealed", { n: files.paths.length })}</p>
          <TextField
            label={text("certificate.password")}
            help={text("certificate.password.help")}
            type="password"
            value={password}
            onChange={setPassword}
            autoFocus
            data-testid="certificate-password"
          />
          <div className={css.actions}>
            <Button tone="quiet" onPress={files.clear}>
              {text("action.cancel")}
            </Button>
            <Button tone="primary" type="submit" isPending={inspect.isPending} data-testid="certificate-inspect">
              {text("certificate.inspect")}
            </Button>
          </div>
        </form>
      )}
      {inspect.error && <ProblemNote problem={inspect.error} />}
      {found && (
        <>
          <div className={screen.row}>
            <h3>{text("certificate.found")}</h3>
            <Validity certificate={found} />
          </div>
          <CertificateFacts certificate={found} isNew />
          {!found.clientAuth && (
            <Notice tone="caution" title={text("certificate.not-for-clients")}>
              {text("certificate.not-for-clients.more")}
            </Notice>
          )}
          {others.length > 1 && (
            <Select
              label={text("certificate.for")}
              value={endpoint}
              choices={[
                { id: "", name: text("certificate.for.all") },
                ...others.map(({ name }) => ({ id: name, name })),
              ]}
              onChange={(next) => {
                setEndpoint(next);
                trial.reset();
              }}
              data-testid="certificate-for"
            />
          )}
          {store.error &&
            (store.error.code === "no-keychain" ? <VaultOffer onDone={keep} /> : <ProblemNote problem={store.error} />)}
          {trial.error && <ProblemNote problem={trial.error} />}
          {refused && (
            <Notice tone="caution" title={text(refusal)}>
              <p>{text(`${refusal}.more`)}</p>
              <Layers probes={refused} />
            </Notice>
          )}
          <div className={css.actions}>
            <Button tone="quiet" onPress={files.clear}>
              {text("action.cancel")}
            </Button>
            {(refused || trial.error) && (
              <Button isPending={store.isPending} onPress={keep} data-testid="certificate-anyway">
                {text("certificate.store.anyway")}
              </Button>
            )}
            <Button
              tone="primary"
              icon={ShieldCheck}
              // Where no password was asked for, nothing of this had the keyboard before.
              autoFocus={look.data !== undefined}
              isPending={trial.isPending || store.isPending}
              onPress={tryAndKeep}
              data-testid="certificate-confirm"
            >
              {text(refused ? "certificate.store.again" : "certificate.store")}
            </Button>
          </div>
        </>
      )}
    </section>
  );
}
