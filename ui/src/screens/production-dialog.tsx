// From practice or a test system to production: only with a certificate and after a test that passed, and the word is
// typed.

import { BadgeCheck, CircleCheck, Plug } from "lucide-react";
import { useEffect, useState } from "react";

import type { EndpointView } from "../bridge/generated/EndpointView";
import type { MoveView } from "../bridge/generated/MoveView";
import { useCertificates, useCommand, useEndpointPlan } from "../bridge/queries";
import { endpointName, useText } from "../i18n/text";
import { Button, TextField } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import { Notice, ProblemNote, ReadProblem } from "../kit/notes";
import { CopyForIt, Layers } from "../parts/connection-test";
import { HOME, useWindow } from "../place";

const SAID = {
  production: ["production.title", "production.more"],
  test: ["test.title", "test.more"],
  out: ["production.leave.title", "production.leave.more"],
} as const;

/** Into production, out of practice to a test system, or anywhere else. */
type Way = "production" | "test" | "out";

export function wayTo(to: EndpointView, from: EndpointView | undefined): Way {
  if (to.environment === "production") return "production";
  return to.environment !== "practice" && from?.environment === "practice" ? "test" : "out";
}

/**
 * Out of practice reports leave this computer, and into production real ones begin: the word is typed, so that nobody
 * arrives by a slip. Out of production they end, also those of the watched folder.
 */
export function ProductionDialog(props: {
  endpoint: EndpointView;
  way: Way;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const { endpoint, way, onConfirm, onClose } = props;
  const text = useText();
  const [title, more] = SAID[way];
  const plan = useEndpointPlan(endpoint.name);
  const name = endpointName(text, endpoint.name);
  const [typed, setTyped] = useState("");
  const word = text(`environment.${endpoint.environment}`);
  const isTyped = way === "out" || typed.trim().toLowerCase() === word.toLowerCase();
  // The core says what is missing, and refuses without it.
  const isReady = way !== "production" || plan.data?.needs === null;
  return (
    <Dialog
      title={text(title, { name })}
      size="small"
      onClose={onClose}
      footer={
        <>
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button tone="primary" isDisabled={!isTyped || !isReady} onPress={onConfirm} data-testid="production-confirm">
            {text("production.confirm")}
          </Button>
        </>
      }
    >
      <p>{text(more, { name })}</p>
      {way === "production" && plan.data && <Readiness endpoint={endpoint} plan={plan.data} />}
      <ReadProblem of={plan} />
      {plan.data?.from && <p>{text("production.nothing-again", { name })}</p>}
      {plan.data?.stay.map((one) => (
        <p key={one.endpoint}>{text("production.stays", { n: one.count, name: endpointName(text, one.endpoint) })}</p>
      ))}
      {plan.data?.watchedFolder && (
        <p>
          {text(plan.data.leavesProduction ? "production.leave.watched" : "production.watched", {
            folder: plan.data.watchedFolder,
            name,
          })}
        </p>
      )}
      {way !== "out" && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (isTyped && isReady) onConfirm();
          }}
        >
          <TextField
            label={text("production.type", { word })}
            value={typed}
            onChange={setTyped}
            autoFocus
            data-testid="production-word"
          />
        </form>
      )}
    </Dialog>
  );
}

/** A certificate, and a test of the connection, which begins by itself: without them every report would only wait there. */
function Readiness({ endpoint, plan }: { endpoint: EndpointView; plan: MoveView }) {
  const text = useText();
  const { go } = useWindow();
  const certificates = useCertificates();
  const test = useCommand("test_endpoint");
  const { mutate } = test;
  const { name } = endpoint;
  const has = certificates.data?.some((stored) => stored.certificate && stored.endpoints.includes(name));
  const isToTest = plan.needs === "test" || (plan.needs === null && has === true);
  useEffect(() => {
    if (isToTest) mutate({ name });
  }, [isToTest, mutate, name]);
  if (plan.needs === "certificate" || has === false) {
    return (
      <Notice
        tone="caution"
        title={text("production.no-certificate", { name })}
        actions={
          <Button icon={BadgeCheck} onPress={() => go(HOME.certificate)} data-testid="production-certificate">
            {text("production.certificate")}
          </Button>
        }
      >
        {text("production.no-certificate.more")}
      </Notice>
    );
  }
  const again = (
    <Button icon={Plug} onPress={() => mutate({ name })} data-testid="production-test">
      {text("production.test.again")}
    </Button>
  );
  if (test.error) return <ProblemNote problem={test.error} actions={again} />;
  if (!test.data) return <Notice tone="progress" icon={Plug} title={text("probe.running")} role="status" />;
  if (test.data.every((probe) => probe.outcome === "passed")) {
    return <Notice tone="done" icon={CircleCheck} title={text("production.tested")} actions={again} role="status" />;
  }
  return (
    <>
      <Notice
        tone="caution"
        title={text("production.failed")}
        actions={
          <>
            {again}
            <CopyForIt endpoint={endpoint} probes={test.data} />
          </>
        }
        role="alert"
        data-testid="production-failed"
      >
        {text(plan.needs === null ? "production.failed.used" : "production.failed.more", { name })}
      </Notice>
      <Layers probes={test.data} />
    </>
  );
}
