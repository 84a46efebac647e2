// A new authority: what everybody needs first, what few need folded. The core checks; this form collects and asks.

import { FileKey2, X } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";

import { door } from "#door";

import { problemOf } from "../bridge/door";
import type { CaView } from "../bridge/generated/CaView";
import type { EndpointInput } from "../bridge/generated/EndpointInput";
import type { Environment } from "../bridge/generated/Environment";
import type { Problem } from "../bridge/generated/Problem";
import type { Release } from "../bridge/generated/Release";
import { useCommand, useEndpoints } from "../bridge/queries";
import { useFormat, useText, useWords } from "../i18n/text";
import { Button, Select, TextField } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import { useDropInto } from "../parts/drops";
import { Notice, ProblemNote, problemText } from "../kit/notes";
import { showInside } from "../kit/scroll";
import { fileName } from "../place";
import { VaultOffer } from "../parts/vault";
import css from "./endpoint-dialog.module.css";

/** Releases of the interface that the core describes, newest first. */
const RELEASES = ["1.13.1", "1.8.0", "1.0.0-trialuse"] as const;
const LANGUAGES = ["de-CH", "fr-CH", "it-CH", "en-US"];
/** The end of every address that the authority gives out. */
const USUAL_PATH = "/v1/fhir";

const EMPTY: EndpointInput = {
  name: "",
  baseUrl: "https://",
  environment: "integration",
  release: "1.13.1",
  language: "de-CH",
  caPem: null,
  proxy: null,
};

/** Where the language of the window is that of the country, reports that name none are in it too. */
const fieldsFor = (locale: string): EndpointInput => ({
  ...EMPTY,
  language: LANGUAGES.find((code) => code === locale) ?? EMPTY.language,
});

/** Whether an address ends as those of the authority do, for a hint while it is written: the question comes from the
 *  operating system. What is no address yet is for the core to say. */
export function hasUsualPath(address: string): boolean {
  try {
    const { hostname, pathname } = new URL(address.trim());
    return hostname === "" || pathname.replace(/\/+$/, "").endsWith(USUAL_PATH);
  } catch {
    return true;
  }
}

/** The field that a problem is about. */
function fieldOf(problem: Problem | null): string | undefined {
  if (problem?.code === "argument-invalid") return problem.params.argument;
  if (problem?.code === "endpoint-exists" || problem?.code === "practice-name-taken") return "name";
  return undefined;
}

/** `caFile`: the file of its CA, where that was chosen first. `onDone`: closes it once the authority is kept. */
export function EndpointDialog(props: { caFile?: string | undefined; onDone: () => void; onClose: () => void }) {
  const { caFile, onDone, onClose } = props;
  const text = useText();
  const { locale } = useWords();
  const [empty] = useState(() => fieldsFor(locale));
  const [input, setInput] = useState(empty);
  const own = useCa(caFile);
  const { ca, take } = own;
  const address = useRef<HTMLDivElement>(null);
  const [advanced, setAdvanced] = useState(caFile !== undefined);
  const add = useCommand("add_endpoint", { onDone });
  const set = (change: Partial<EndpointInput>) => setInput((old) => ({ ...old, ...change }));
  const takeCa = useCallback(
    (paths: string[]) => {
      take(paths);
      setAdvanced(true);
    },
    [take],
  );
  useDropInto(takeCa);
  const save = () => add.mutate({ input: { ...input, caPem: ca?.pem ?? null } });
  const wrong = fieldOf(add.error);
  const said = (field: string) => (wrong === field && add.error ? problemText(text, add.error).title : undefined);
  return (
    <Dialog
      title={text("endpoint.add")}
      isDirty={input !== empty || ca !== undefined}
      onClose={onClose}
      footer={
        <>
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button
            tone="primary"
            isDisabled={!input.name.trim() || input.baseUrl.length < 10 || own.problem !== undefined}
            isPending={add.isPending}
            onPress={save}
            data-testid="endpoint-save"
          >
            {text("endpoint.save")}
          </Button>
        </>
      }
    >
      <Presets
        onChoose={(environment) => {
          set({ environment, name: text(`endpoint.preset.${environment}.name`) });
          address.current?.querySelector("input")?.focus();
        }}
      />
      <TextField
        label={text("endpoint.name")}
        help={text("endpoint.name.help")}
        error={said("name")}
        value={input.name}
        onChange={(name) => set({ name })}
        autoFocus
      />
      <div ref={address}>
        <TextField
          label={text("endpoint.address")}
          help={text("endpoint.address.help")}
          error={said("baseUrl") && text("endpoint.address.wrong")}
          type="url"
          value={input.baseUrl}
          onChange={(baseUrl) => set({ baseUrl })}
        />
      </div>
      {!hasUsualPath(input.baseUrl) && (
        <Notice tone="caution" title={text("endpoint.unusual")} role="status">
          {text("endpoint.unusual.more")}
        </Notice>
      )}
      <SameAddress address={input.baseUrl} environment={input.environment} />
      <Select
        label={text("endpoint.environment")}
        value={input.environment}
        choices={[
          { id: "integration", name: text("environment.integration") },
          { id: "production", name: text("environment.production") },
        ]}
        onChange={(environment) => set({ environment })}
      />
      <details className={css.advanced} open={advanced} onToggle={(event) => setAdvanced(event.currentTarget.open)}>
        <summary>{text("endpoint.advanced")}</summary>
        <div className={css.fields}>
          <Ca ca={ca} problem={own.problem} onChoose={own.choose} onRemove={own.clear} />
          <Terms release={input.release ?? RELEASES[0]} language={input.language ?? ""} onChange={set} />
          <TextField
            label={text("endpoint.proxy")}
            help={text("endpoint.proxy.help")}
            error={said("proxy")}
            value={input.proxy ?? ""}
            onChange={(proxy) => set({ proxy: proxy.trim() || null })}
          />
        </div>
      </details>
      {add.error?.code === "no-keychain" ? (
        <VaultOffer onDone={save} />
      ) : (
        add.error && wrong === undefined && <ProblemNote problem={add.error} />
      )}
    </Dialog>
  );
}

/** One address in two environments: what went to the one is not known at the other, and would go there twice. */
export function SameAddress(props: { address: string; environment: Environment; but?: string }) {
  const { address, environment, but } = props;
  const text = useText();
  const endpoints = useEndpoints().data ?? [];
  const there = plain(address);
  const same = endpoints.find(
    (one) => one.name !== but && one.environment !== environment && plain(one.baseUrl) === there,
  );
  if (!same) return null;
  const where = { name: same.name, environment: text(`environment.${same.environment}`) };
  return (
    <Notice tone="attention" title={text("endpoint.same-address", where)} role="status">
      {text("endpoint.same-address.more", where)}
    </Notice>
  );
}

/** An address as it is compared: host in small letters, no slash at its end. */
function plain(address: string): string {
  try {
    return new URL(address.trim()).href.replace(/\/+$/, "");
  } catch {
    return address.trim();
  }
}

/** Which version of the interface an authority speaks, and the language of reports that name none; one that was set on the
 *  command line is among the choices. */
export function Terms(props: {
  release: Release;
  language: string;
  onChange: (change: { release?: Release; language?: string }) => void;
}) {
  const { release, language, onChange } = props;
  const text = useText();
  const { locale } = useWords();
  const names = new Intl.DisplayNames(locale, { type: "language" });
  const [releases] = useState(() => [...new Set([...RELEASES, release])]);
  const [languages] = useState(() => [...new Set([...LANGUAGES, language])]);
  return (
    <>
      <Select
        label={text("endpoint.release.label")}
        value={release}
        choices={releases.map((id) => ({ id, name: id }))}
        onChange={(chosen) => onChange({ release: chosen })}
      />
      <Select
        label={text("endpoint.language")}
        value={language}
        choices={languages.map((id) => ({ id, name: names.of(id) ?? id }))}
        onChange={(chosen) => onChange({ language: chosen })}
      />
    </>
  );
}

/** What is known of the authority of the country: all but its addresses, which it gives to each laboratory. */
function Presets({ onChoose }: { onChoose: (environment: "integration" | "production") => void }) {
  const text = useText();
  return (
    <section className={css.presets} aria-label={text("endpoint.preset")} data-testid="endpoint-presets">
      <h3>{text("endpoint.preset")}</h3>
      <div>
        {(["integration", "production"] as const).map((environment) => (
          <Button key={environment} onPress={() => onChoose(environment)} data-testid={`preset-${environment}`}>
            {text(`endpoint.preset.${environment}`)}
          </Button>
        ))}
      </div>
      <p>{text("endpoint.preset.more")}</p>
    </section>
  );
}

/** A CA that was chosen or dropped, and what was wrong with it. `file`: one that was chosen before. */
export function useCa(file?: string) {
  const [ca, setCa] = useState<CaView & { file: string }>();
  const [problem, setProblem] = useState<Problem>();
  const take = useCallback((paths: string[]) => {
    const [path] = paths;
    if (path === undefined) return;
    // What stood before is not what was meant now: nothing is saved with it by mistake.
    const refuse = (thrown: unknown) => {
      setCa(undefined);
      setProblem(problemOf(thrown));
    };
    door.call("read_ca", { path }).then((view) => {
      setCa({ ...view, file: fileName(path) });
      setProblem(undefined);
    }, refuse);
  }, []);
  useEffect(() => {
    if (file !== undefined) take([file]);
  }, [file, take]);
  const choose = () =>
    void door.call("choose_files", { purpose: "ca" }).then(take, (thrown) => setProblem(problemOf(thrown)));
  const clear = () => {
    setCa(undefined);
    setProblem(undefined);
  };
  return { ca, problem, take, choose, clear };
}

/** The authority's own CA: chosen or dropped, shown before it is trusted. */
export function Ca(props: {
  ca: (CaView & { file: string }) | undefined;
  /** Subject of the one that is trusted now. */
  known?: string | null;
  problem: Problem | undefined;
  onChoose: () => void;
  onRemove: () => void;
}) {
  const { ca, known, problem, onChoose, onRemove } = props;
  const text = useText();
  const format = useFormat();
  const note = useRef<HTMLDivElement>(null);
  // It may lie below what is seen, and it is why nothing can be saved.
  useEffect(() => showInside(problem && note.current), [problem]);
  return (
    <section className={css.ca} aria-label={text("endpoint.ca")} data-testid="endpoint-ca">
      <h3>{text("endpoint.ca")}</h3>
      {problem ? (
        <div ref={note} className={css.found} data-testid="ca-refused">
          <ProblemNote problem={problem} />
          <Button tone="quiet" icon={X} label={text("endpoint.ca.remove")} onPress={onRemove} />
        </div>
      ) : ca || known ? (
        <div className={css.found}>
          <div className={css.words}>
            <strong>{ca?.subject ?? known}</strong>
            {ca && <span>{text("endpoint.ca.file", { file: ca.file })}</span>}
            {ca && <span>{text("endpoint.ca.until", { date: format.date(ca.notAfter), n: ca.count })}</span>}
          </div>
          <Button tone="quiet" icon={X} label={text("endpoint.ca.remove")} onPress={onRemove} />
        </div>
      ) : (
        <p>{text("endpoint.ca.help")}</p>
      )}
      <div>
        <Button icon={FileKey2} onPress={onChoose} data-testid="choose-ca">
          {text(ca || known ? "endpoint.ca.other" : "endpoint.ca.choose")}
        </Button>
      </div>
    </section>
  );
}
