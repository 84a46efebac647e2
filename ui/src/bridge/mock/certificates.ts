// Certificates of the made-up core, and what keeps their keys.

import type { CertificateView } from "../generated/CertificateView";
import type { EndpointView } from "../generated/EndpointView";
import type { StatusView } from "../generated/StatusView";
import { problem } from "./answers";
import type { Answers } from "./answers";

const CERTIFICATE: CertificateView = {
  subject: "CN=Labor Aaretal AG, O=Labor Aaretal AG, C=CH",
  issuer: "CN=Practice CA of Lab Courier",
  serial: "5A:0F:3C:91:7B:22:E4:08",
  notBefore: "2026-04-13T08:00:00Z",
  notAfter: "2027-04-13T08:00:00Z",
  daysLeft: 143,
  daysAhead: 0,
  fingerprint: "3B:9A:51:7C:E0:44:1D:92:6F:AB:08:C3:5E:71:D9:20:4C:88:FA:13:67:B5:2E:90:DC:3A:F1:05:79:E6:8B:42",
  keyType: "EC P-256",
  purposes: ["clientAuth"],
  clientAuth: true,
  storedIn: "practice",
};

/** How the keys are kept. */
interface Keys {
  /** Whether they wait for their passphrase. */
  sealed: boolean;
  /** Whether this computer has a keychain. */
  keychain: boolean;
}

/** One certificate, for whichever of these endpoints is in use. */
export function createCertificates(endpoints: readonly EndpointView[], { sealed, keychain }: Keys, now: number) {
  let certificate: CertificateView | null = CERTIFICATE;
  const answers = {
    certificate_inspect: opened,
    certificate_try: () => [],
    certificate_import(takes) {
      if (!keychain) throw problem("no-keychain", { cause: "none" }, "call-it");
      certificate = { ...opened(takes), storedIn: "keychain" };
      return certificate;
    },
    read_ca: () => ({
      pem: "-----BEGIN CERTIFICATE-----",
      subject: "CN=Root CA of the Authority",
      notAfter: new Date(now + 3e11).toISOString(),
      daysLeft: 3472,
      count: 1,
    }),
    protect_with_passphrase: () => null,
    open_vault: () => null,
    change_vault_passphrase({ current }) {
      if (current === "wrong") throw problem("wrong-passphrase", {}, "enter-password");
      return null;
    },
    certificates: () =>
      certificate
        ? [
            {
              fingerprint: certificate.fingerprint,
              certificate,
              endpoints: endpoints.filter((one) => one.inUse).map((one) => one.name),
              formerly: [],
              open: 2,
            },
          ]
        : [],
    use_certificate: () => null,
    remove_certificate() {
      certificate = null;
      return null;
    },
  } satisfies Partial<Answers>;
  const status = () =>
    ({
      certificate,
      waitingCertificate: null,
      ...(sealed && {
        problem: problem("passphrase-needed", {}, "enter-password"),
        certificate: null,
        endpoint: "",
        laboratory: { needsAttention: 0, notices: 0, paused: false, closed: true },
      }),
    }) satisfies Partial<StatusView>;
  return { answers, status };
}

function opened(takes: { paths: string[]; password: string }): CertificateView {
  if (takes.password === "") throw problem("certificate-password-needed", {}, "enter-password");
  if (takes.password === "wrong") throw problem("certificate-wrong-password", {}, "enter-password");
  if (takes.paths.some((path) => /damaged/.test(path)))
    throw problem("certificate-damaged", { kind: "pkcs12" }, "choose-other-file");
  return { ...CERTIFICATE, issuer: "CN=Issuing CA of the Authority, C=CH", storedIn: "keychain" };
}
