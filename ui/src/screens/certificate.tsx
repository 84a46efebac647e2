// The certificate in use, and the next one: inspected before it is stored, tested after.

import { BadgeCheck, BadgeX, FileKey2, FlaskConical } from "lucide-react";

import { useEndpoints, useStatus } from "../bridge/queries";
import { useText } from "../i18n/text";
import { CertificateFacts, Validity } from "../parts/certificate-facts";
import { Button } from "../parts/controls";
import { Empty, Notice, ProblemNote } from "../parts/notes";
import { ConnectionTest } from "../parts/connection-test";
import screen from "../parts/screen.module.css";
import { CertificateImport } from "./certificate-import";
import type { CertificateFiles } from "./certificate-import";

export function Certificate({ files }: { files: CertificateFiles }) {
  const text = useText();
  const status = useStatus();
  const endpoint = useEndpoints().data?.find((one) => one.inUse);
  const certificate = status.data?.certificate;
  const waiting = status.data?.waitingCertificate;
  const locked = status.data?.connection === "locked" ? status.data.problem : null;
  const importing = files.paths.length > 0;
  const choose = (
    <Button icon={FileKey2} tone={certificate ? "plain" : "primary"} onPress={files.choose} data-testid="certificate-import">
      {text(certificate ? "certificate.import-next" : "certificate.import")}
    </Button>
  );
  return (
    <>
      <header className={screen.header}>
        <h1>{text("nav.certificate")}</h1>
        {!importing && certificate && choose}
      </header>
      <div className={screen.body}>
        <div className={`${screen.narrow} ${screen.stack}`}>
          {locked && <ProblemNote problem={locked} />}
          {importing && <CertificateImport key={files.turn} files={files} />}
          {!importing && !certificate && (
            <Empty icon={BadgeX} title={text("certificate.none")} actions={choose}>
              {text("certificate.none.more")}
            </Empty>
          )}
          {certificate && (
            <section className={screen.card}>
              <div className={screen.row}>
                <h2>{text(importing ? "certificate.current" : "certificate.in-use")}</h2>
                <Validity certificate={certificate} />
              </div>
              {certificate.storedIn === "practice" && (
                <Notice tone="caution" icon={FlaskConical}>
                  {text("certificate.practice")}
                </Notice>
              )}
              {certificate.daysLeft < 0 && (
                <Notice tone="attention" title={text("certificate.expired")}>
                  {text("certificate.expired.more")}
                </Notice>
              )}
              <CertificateFacts certificate={certificate} />
            </section>
          )}
          {waiting && !importing && (
            <section className={screen.card} data-testid="certificate-waiting">
              <div className={screen.row}>
                <h2>{text("certificate.waiting")}</h2>
                <Validity certificate={waiting} />
              </div>
              <p>{text("certificate.waiting.more")}</p>
              <CertificateFacts certificate={waiting} />
            </section>
          )}
          {endpoint && !importing && <ConnectionTest endpoint={endpoint} icon={BadgeCheck} />}
        </div>
      </div>
    </>
  );
}
