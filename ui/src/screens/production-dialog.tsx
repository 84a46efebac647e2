// From practice or a test system to production: what is missing for it is offered first, and the word is typed.

import { BadgeCheck, Plug } from "lucide-react";
import { useState } from "react";

import type { EndpointView } from "../bridge/generated/EndpointView";
import { useCertificates, useCommand, useEndpointPlan } from "../bridge/queries";
import { useText } from "../i18n/text";
import { Button, TextField } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import { Notice, ProblemNote } from "../kit/notes";
import { HOME, useWindow } from "../place";

/**
 * Into production real reports begin: the word is typed, so that nobody arrives by a slip. Out of it they end, also those
 * of the watched folder.
 */
export function ProductionDialog(props: {
  endpoint: EndpointView;
  into: boolean;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const { endpoint, into, onConfirm, onClose } = props;
  const text = useText();
  const plan = useEndpointPlan(endpoint.name);
  const [typed, setTyped] = useState("");
  const word = text("environment.production");
  const isTyped = !into || typed.trim().toLowerCase() === word.toLowerCase();
  return (
    <Dialog
      title={text(into ? "production.title" : "production.leave.title", { name: endpoint.name })}
      size="small"
      onClose={onClose}
      footer={
        <>
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button tone="primary" isDisabled={!isTyped} onPress={onConfirm} data-testid="production-confirm">
            {text("production.confirm")}
          </Button>
        </>
      }
    >
      <p>{text(into ? "production.more" : "production.leave.more", { name: endpoint.name })}</p>
      {into && <Missing endpoint={endpoint} />}
      {plan.data?.from && <p>{text("production.nothing-again", { name: endpoint.name })}</p>}
      {plan.data?.stay.map((one) => (
        <p key={one.endpoint}>{text("production.stays", { n: one.count, name: one.endpoint })}</p>
      ))}
      {plan.data?.watchedFolder && (
        <p>
          {text(into ? "production.watched" : "production.leave.watched", {
            folder: plan.data.watchedFolder,
            name: endpoint.name,
          })}
        </p>
      )}
      {into && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (isTyped) onConfirm();
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

/** A certificate and a connection that works: without them every report would only wait there. */
function Missing({ endpoint }: { endpoint: EndpointView }) {
  const text = useText();
  const { go } = useWindow();
  const certificates = useCertificates();
  const test = useCommand("test_endpoint");
  const { name } = endpoint;
  const has = certificates.data?.some((stored) => stored.certificate && stored.endpoints.includes(name));
  if (certificates.data && !has) {
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
  const failed = test.data?.find((probe) => probe.problem)?.problem ?? test.error;
  const passed = test.data?.every((probe) => probe.outcome === "passed");
  return (
    <>
      {passed ? (
        <Notice tone="done" title={text("production.tested")} role="status" />
      ) : (
        <div>
          <Button
            icon={Plug}
            isPending={test.isPending}
            onPress={() => test.mutate({ name })}
            data-testid="production-test"
          >
            {text(test.isPending ? "probe.running" : "production.test")}
          </Button>
        </div>
      )}
      {failed && <ProblemNote problem={failed} />}
    </>
  );
}
