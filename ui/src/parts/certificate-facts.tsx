import { BadgeCheck, TriangleAlert } from "lucide-react";

import type { CertificateView } from "../bridge/generated/CertificateView";
import { useCodeText, useFormat, useText } from "../i18n/text";
import css from "./certificate-facts.module.css";
import { CopyValue } from "../kit/controls";
import screen from "../kit/screen.module.css";

/** Days before the end at which a renewal should be under way. */
const DAYS_SOON = 60;

export function Validity({ certificate }: { certificate: CertificateView }) {
  const text = useText();
  const format = useFormat();
  const { daysLeft, daysAhead, notBefore, notAfter } = certificate;
  const look = daysLeft < 0 || daysAhead > 0 ? "over" : daysLeft < DAYS_SOON ? "soon" : "good";
  const words = () => {
    if (daysAhead > 0) return text("certificate.validity-ahead", { date: format.date(notBefore) });
    if (daysLeft < 0) return text("certificate.validity-over", { date: format.date(notAfter) });
    return text("certificate.validity", { n: daysLeft, date: format.date(notAfter) });
  };
  const Icon = look === "good" ? BadgeCheck : TriangleAlert;
  return (
    <span className={`${css.validity} ${css[look]}`}>
      <Icon aria-hidden size={16} />
      {words()}
    </span>
  );
}

/** `isNew`: it is not stored yet. `used`: when the authority last took it, or never so far; unsaid where nobody knows. */
export function CertificateFacts({
  certificate,
  isNew,
  used,
}: {
  certificate: CertificateView;
  isNew?: boolean;
  used?: string | null | undefined;
}) {
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  return (
    <dl className={screen.facts}>
      <dt>{text("certificate.subject")}</dt>
      <dd className="selectable">{certificate.subject}</dd>
      <dt>{text("certificate.issuer")}</dt>
      <dd className="selectable">{certificate.issuer}</dd>
      <dt>{text("certificate.valid")}</dt>
      <dd>
        {text("certificate.from-to", {
          from: format.date(certificate.notBefore),
          to: format.date(certificate.notAfter),
        })}
      </dd>
      <dt>{text("certificate.key")}</dt>
      <dd>{certificate.keyType}</dd>
      <dt>{text("certificate.purposes")}</dt>
      <dd>
        {certificate.purposes.map((purpose) => words("purpose", purpose)).join(", ") || text("certificate.any-purpose")}
      </dd>
      <dt>{text("certificate.serial")}</dt>
      <dd>
        <CopyValue name={text("certificate.serial")} value={certificate.serial} />
      </dd>
      <dt>{text("certificate.fingerprint")}</dt>
      <dd>
        <CopyValue name={text("certificate.fingerprint")} value={certificate.fingerprint} />
      </dd>
      {/* Before it is stored nobody knows whether this computer has a keychain that takes it. */}
      {!isNew && (
        <>
          <dt>{text("certificate.stored-in")}</dt>
          <dd>{words("stored-in", certificate.storedIn)}</dd>
        </>
      )}
      {used !== undefined && (
        <>
          <dt>{text("certificate.last-used")}</dt>
          <dd data-testid="certificate-used">
            {used === null ? text("certificate.last-used.none") : format.moment(used)}
          </dd>
        </>
      )}
    </dl>
  );
}
