// The connection, layer by layer, with a copy for those who run the network.

import { CircleCheck, CircleMinus, CircleX, Plug } from "lucide-react";
import type { LucideIcon } from "lucide-react";

import type { EndpointView } from "../bridge/generated/EndpointView";
import type { ProbeOutcome } from "../bridge/generated/ProbeOutcome";
import type { ProbeView } from "../bridge/generated/ProbeView";
import { useCommand } from "../bridge/queries";
import { endpointName, useCodeText, useText } from "../i18n/text";
import type { Text } from "../i18n/text";
import css from "./connection-test.module.css";
import { Button, CopyButton } from "../kit/controls";
import { ProblemNote, problemText } from "../kit/notes";
import screen from "../kit/screen.module.css";

const OUTCOMES: Record<ProbeOutcome, { icon: LucideIcon; look: string }> = {
  passed: { icon: CircleCheck, look: "passed" },
  failed: { icon: CircleX, look: "failed" },
  "not-reached": { icon: CircleMinus, look: "open" },
};

export function ConnectionTest({ endpoint, icon: Icon = Plug }: { endpoint: EndpointView; icon?: LucideIcon }) {
  const text = useText();
  const test = useCommand("test_endpoint");
  return (
    <section className={screen.card}>
      <div className={screen.row}>
        <div>
          <h2>{text("probe.title")}</h2>
          <p className={screen.lead}>
            {text("probe.more", { name: endpointName(text, endpoint.name), address: endpoint.baseUrl })}
          </p>
        </div>
        <div className={screen.tools}>
          {test.data && <CopyForIt endpoint={endpoint} probes={test.data} />}
          <Button
            icon={Icon}
            isPending={test.isPending}
            onPress={() => test.mutate({ name: endpoint.name })}
            data-testid="test-endpoint"
          >
            {text(test.isPending ? "probe.running" : "probe.start")}
          </Button>
        </div>
      </div>
      {test.error && <ProblemNote problem={test.error} />}
      {test.data && <Layers probes={test.data} />}
    </section>
  );
}

/** What was found at each layer, for those who run the network. */
export function CopyForIt({ endpoint, probes }: { endpoint: EndpointView; probes: ProbeView[] }) {
  const text = useText();
  const words = useCodeText();
  const told = () => {
    const rows = probes.map((probe) => {
      const { detail, why } = lineOf(text, probe);
      const code = probe.problem ? `[${probe.problem.code}] ${probe.problem.trace}` : "";
      return [words("layer", probe.layer), words("outcome", probe.outcome), detail, why, code]
        .filter(Boolean)
        .join("\t");
    });
    const head = [endpoint.name, endpoint.baseUrl, new Date().toISOString()].join("\t");
    return [head, ...rows].join("\n");
  };
  return <CopyButton label={text("probe.copy")} value={told} />;
}

function lineOf(text: Text, probe: ProbeView): { detail: string; why: string } {
  const more = probe.problem ? problemText(text, probe.problem) : undefined;
  const sentences = more ? [more.title, more.more].filter(Boolean) : [];
  return { detail: detailOf(probe), why: sentences.join(". ") };
}

/** A fingerprint of SHA-256 as the core has it here. */
const FINGERPRINT = /^[0-9a-f]{64}$/;

/** As it is written elsewhere: a fingerprint as that of a certificate, and of which standard a version is. */
function detailOf({ layer, detail }: ProbeView): string {
  if (!detail) return "";
  if (FINGERPRINT.test(detail)) return detail.toUpperCase().replaceAll(/..(?=.)/g, "$&:");
  return layer === "capability" ? `FHIR ${detail}` : detail;
}

/** A row for each layer of a connection. */
export function Layers({ probes }: { probes: ProbeView[] }) {
  const text = useText();
  const words = useCodeText();
  return (
    <ol className={css.layers} aria-live="polite">
      {probes.map((probe) => {
        const { icon: Mark, look } = OUTCOMES[probe.outcome];
        const { detail, why } = lineOf(text, probe);
        return (
          <li key={probe.layer} className={css.layer}>
            <Mark aria-hidden size={18} className={css[look]} />
            <span className={css.name}>{words("layer", probe.layer)}</span>
            {!why && <span className={`${css.detail} selectable`}>{detail}</span>}
            <span className={`${css.outcome} ${css[look]}`}>{words("outcome", probe.outcome)}</span>
            {why && <span className={`${css.why} selectable`}>{why}</span>}
          </li>
        );
      })}
    </ol>
  );
}
