// The certificates for the authority: what each is used for, how long it is good, and the next one beside it.

import { BadgeCheck, BadgeX, FileKey2, FlaskConical, Plus, Trash2 } from "lucide-react";
import { useState } from "react";

import type { StoredCertificateView } from "../bridge/generated/StoredCertificateView";
import { useCertificates, useCommand, useEndpoints, useStatus } from "../bridge/queries";
import { endpointName, useText } from "../i18n/text";
import type { Text } from "../i18n/text";
import { CertificateFacts, Validity } from "../parts/certificate-facts";
import { ConnectionTest } from "../parts/connection-test";
import { Button, Select } from "../kit/controls";
import { Confirm } from "../kit/dialog";
import { Empty, Notice, ProblemNote, ReadProblem } from "../kit/notes";
import screen from "../kit/screen.module.css";
import { AdministrationNotice, Guarded, useAdministrationClosed } from "../parts/administration";
import { say, sayProblem } from "../kit/toasts";
import { useWindow } from "../place";
import { CertificateImport } from "./certificate-import";
import type { CertificateFiles } from "./certificate-import";
import css from "./certificate.module.css";

const named = (text: Text, endpoints: string[]) => endpoints.map((name) => endpointName(text, name)).join(", ");

export function Certificate({ files }: { files: CertificateFiles }) {
  const text = useText();
  const status = useStatus();
  const stored = useCertificates();
  const endpoints = useEndpoints();
  const endpoint = endpoints.data?.find((one) => one.inUse);
  const practice = status.data?.environment === "practice" ? status.data.certificate : null;
  const locked = status.data?.connection === "locked" ? status.data.problem : null;
  const closed = useAdministrationClosed();
  // Nobody enters the password of a file that they may not import.
  const importing = files.paths.length > 0 && !closed;
  const none = stored.data?.length === 0;
  const choose = (
    <Button
      icon={FileKey2}
      tone={none ? "primary" : "plain"}
      isDisabled={closed}
      onPress={files.choose}
      data-testid="certificate-import"
    >
      {text(none ? "certificate.import" : "certificate.import-next")}
    </Button>
  );
  return (
    <>
      <header className={screen.header}>
        <h1>{text("nav.certificate")}</h1>
        {!importing && !none && choose}
      </header>
      <div className={screen.body}>
        <div className={screen.columns}>
          <AdministrationNotice {...(files.paths.length > 0 && { closed: "administration.closed.certificate" })} />
          {locked && <ProblemNote problem={locked} />}
          {/* That above every screen has the way in. */}
          {stored.error?.code !== "passphrase-needed" && <ReadProblem of={stored} />}
          <ReadProblem of={endpoints} />
          {importing && <CertificateImport key={files.turn} files={files} />}
          {!importing && none && (
            <Empty icon={BadgeX} title={text("certificate.none")} actions={choose}>
              {text("certificate.none.more")}
            </Empty>
          )}
          {stored.data?.map((one) => (
            <Stored key={one.fingerprint} stored={one} />
          ))}
          {practice && (
            <details className={`${screen.card} ${css.practice}`} data-testid="certificate-practice">
              <summary>
                <FlaskConical aria-hidden size={17} />
                <span>{text("certificate.practice.title")}</span>
                <Validity certificate={practice} />
              </summary>
              <p>{text("certificate.practice")}</p>
              <CertificateFacts certificate={practice} used={status.data?.lastContact} />
            </details>
          )}
          {endpoint && !importing && <ConnectionTest endpoint={endpoint} icon={BadgeCheck} />}
        </div>
      </div>
    </>
  );
}

/** The name that people know a certificate by: the common name of its subject. */
export function commonName(subject: string): string {
  return /(?:^|,\s*)CN=([^,]+)/.exec(subject)?.[1] ?? subject;
}

function Stored({ stored }: { stored: StoredCertificateView }) {
  const text = useText();
  const [removing, setRemoving] = useState(false);
  const { certificate, endpoints, open } = stored;
  const isUsed = endpoints.length > 0;
  const status = useStatus().data;
  // Of the authority in use alone it is known when it last answered.
  const used = status && endpoints.includes(status.endpoint) ? status.lastContact : undefined;
  return (
    <section className={screen.card} data-testid="certificate-stored">
      <div className={screen.row}>
        <h2 className={css.name}>{certificate ? commonName(certificate.subject) : text("certificate.damaged")}</h2>
        {certificate && <Validity certificate={certificate} />}
      </div>
      <p className={css.use}>
        {isUsed
          ? text("certificate.used-for", {
              endpoints: named(text, endpoints),
              n: endpoints.length,
            })
          : text("certificate.unused")}{" "}
        {open > 0 && text("certificate.open", { n: open })}
      </p>
      {certificate === null && <Notice tone="attention">{text("certificate.damaged.more")}</Notice>}
      {certificate && certificate.daysLeft < 0 && (
        <Notice tone="attention" title={text("certificate.expired")}>
          {text("certificate.expired.more")}
        </Notice>
      )}
      {certificate && isUsed && <CertificateFacts certificate={certificate} used={used} />}
      {certificate && !isUsed && (
        <details className={css.more}>
          <summary>{text("certificate.details")}</summary>
          <CertificateFacts certificate={certificate} />
        </details>
      )}
      <Guarded>
        <div className={css.actions}>
          {certificate && <UseFor stored={stored} />}
          <Button tone="quiet" icon={Trash2} onPress={() => setRemoving(true)} data-testid="certificate-remove">
            {text("certificate.remove")}
          </Button>
        </div>
      </Guarded>
      {removing && <Removal stored={stored} onClose={() => setRemoving(false)} />}
    </section>
  );
}

/** Lets another authority use it; those that use it already are not offered. Where there is none, one is added first. */
function UseFor({ stored }: { stored: StoredCertificateView }) {
  const text = useText();
  const { go } = useWindow();
  const endpoints = useEndpoints().data;
  const use = useCommand("use_certificate", {
    onDone: (_, { endpoint }) =>
      say({ tone: "done", title: text("certificate.used-now", { endpoint: endpointName(text, endpoint) }) }),
  });
  if (!endpoints) return null;
  const others = endpoints.filter(
    ({ environment, name }) => environment !== "practice" && !stored.endpoints.includes(name),
  );
  if (others.length === 0) {
    if (stored.endpoints.length > 0) return null;
    return (
      <Button icon={Plus} onPress={() => go({ screen: "settings", adds: true })} data-testid="certificate-add-endpoint">
        {text("endpoint.add")}
      </Button>
    );
  }
  return (
    <Select
      label={text("certificate.use-for")}
      hideLabel
      value=""
      placeholder={text("certificate.use-for")}
      choices={others.map(({ name }) => ({ id: name, name }))}
      onChange={(endpoint) =>
        endpoint && use.mutate({ fingerprint: stored.fingerprint, endpoint }, { onError: sayProblem(text) })
      }
      data-testid="certificate-use-for"
    />
  );
}

/** Without its certificate an authority gets nothing, and what is open there is followed no more: that is said first. */
function Removal({ stored, onClose }: { stored: StoredCertificateView; onClose: () => void }) {
  const text = useText();
  const { endpoints, open, fingerprint, certificate } = stored;
  const needed = endpoints.length > 0 || open > 0;
  const remove = useCommand("remove_certificate", {
    onDone() {
      onClose();
      say({ tone: "done", title: text("certificate.removed") });
    },
  });
  return (
    <Confirm
      title={text("certificate.remove.title")}
      confirm={text("certificate.remove")}
      tone="danger"
      isPending={remove.isPending}
      problem={remove.error}
      onConfirm={() => remove.mutate({ fingerprint, although_needed: needed })}
      onClose={onClose}
      data-testid="certificate-remove-confirm"
    >
      <p>{text("certificate.remove.more", { name: certificate ? commonName(certificate.subject) : fingerprint })}</p>
      {needed && (
        <Notice
          tone="attention"
          title={text("certificate.remove.needed", { n: endpoints.length, endpoints: named(text, endpoints) })}
        >
          {endpoints.length > 0 && text("certificate.remove.none")}{" "}
          {open > 0 && text("certificate.remove.open", { n: open })}
        </Notice>
      )}
    </Confirm>
  );
}
