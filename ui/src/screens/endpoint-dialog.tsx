import { useState } from "react";

import type { EndpointInput } from "../bridge/generated/EndpointInput";
import { useCommand } from "../bridge/queries";
import { useText } from "../i18n/text";
import { Button, Select, TextField } from "../parts/controls";
import { Dialog } from "../parts/dialog";
import { ProblemNote } from "../parts/notes";

/** Releases of the interface that the core describes, newest first. */
const RELEASES = ["1.13.1", "1.8.0", "1.0.0-trialuse"];
const LANGUAGES = ["de-CH", "fr-CH", "it-CH", "en-US"];

const EMPTY: EndpointInput = {
  name: "",
  baseUrl: "https://",
  environment: "integration",
  release: "1.13.1",
  language: "de-CH",
  caPem: null,
  proxy: null,
};

/** A new endpoint. The core checks the address; this form only collects. */
export function EndpointDialog({ onClose }: { onClose: () => void }) {
  const text = useText();
  const [input, setInput] = useState(EMPTY);
  const add = useCommand("add_endpoint", { stale: ["endpoints"], onDone: onClose });
  const set = (change: Partial<EndpointInput>) => setInput((old) => ({ ...old, ...change }));
  return (
    <Dialog
      title={text("endpoint.add")}
      isDirty={input !== EMPTY}
      onClose={onClose}
      footer={
        <>
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button
            tone="primary"
            isDisabled={!input.name.trim() || input.baseUrl.length < 10}
            isPending={add.isPending}
            onPress={() => add.mutate({ input })}
          >
            {text("endpoint.save")}
          </Button>
        </>
      }
    >
      <TextField label={text("endpoint.name")} value={input.name} onChange={(name) => set({ name })} autoFocus />
      <TextField
        label={text("endpoint.address")}
        help={text("endpoint.address.help")}
        type="url"
        value={input.baseUrl}
        onChange={(baseUrl) => set({ baseUrl })}
      />
      <Select
        label={text("endpoint.environment")}
        value={input.environment}
        choices={[
          { id: "integration", name: text("environment.integration") },
          { id: "production", name: text("environment.production") },
        ]}
        onChange={(environment) => set({ environment })}
      />
      <Select
        label={text("endpoint.release.label")}
        value={input.release ?? ""}
        choices={RELEASES.map((id) => ({ id, name: id }))}
        onChange={(release) => set({ release })}
      />
      <Select
        label={text("endpoint.language")}
        value={input.language ?? ""}
        choices={LANGUAGES.map((id) => ({ id, name: id }))}
        onChange={(language) => set({ language })}
      />
      <TextField
        label={text("endpoint.ca")}
        help={text("endpoint.ca.help")}
        value={input.caPem ?? ""}
        onChange={(pem) => set({ caPem: pem.trim() ? pem : null })}
        rows={4}
        mono
      />
      <TextField
        label={text("endpoint.proxy")}
        help={text("endpoint.proxy.help")}
        value={input.proxy ?? ""}
        onChange={(proxy) => set({ proxy: proxy.trim() || null })}
      />
      {add.error && <ProblemNote problem={add.error} />}
    </Dialog>
  );
}
