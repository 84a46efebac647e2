// Endpoints of the made-up core, and which one is in use.

import type { ElsewhereView } from "../generated/ElsewhereView";
import type { EndpointInput } from "../generated/EndpointInput";
import type { EndpointView } from "../generated/EndpointView";
import type { Environment } from "../generated/Environment";
import type { Layer } from "../generated/Layer";
import type { MoveView } from "../generated/MoveView";
import type { ProbeView } from "../generated/ProbeView";
import type { Release } from "../generated/Release";
import type { StatusView } from "../generated/StatusView";
import { problem } from "./answers";
import type { Answers } from "./answers";

const LAYERS: Layer[] = [
  "configuration",
  "name",
  "tcp",
  "tls",
  "server-certificate",
  "client-certificate",
  "capability",
];

/** Endpoints of which that of practice is in use, for this environment; `elsewhere` has open reports of others. */
export function createEndpoints(
  { environment, unreachable }: { environment: Environment; unreachable: boolean },
  elsewhere: ElsewhereView[],
  now: number,
) {
  let isReached = !unreachable;
  let away = elsewhere;

  const known: EndpointView[] = [
    { ...endpoint({ name: "practice", baseUrl: "https://127.0.0.1:40123/v1/fhir", environment }), inUse: true },
    endpoint({
      name: "Authority, integration",
      baseUrl: "https://elm-abn.example.org/v1/fhir",
      environment: "integration",
    }),
    endpoint({ name: "Authority", baseUrl: "https://elm.example.org/v1/fhir", environment: "production" }),
  ];
  let room = 0;

  const inUse = () => known.find((one) => one.inUse);
  function change(name: string, to: Partial<EndpointView>): null {
    for (const one of known) if (one.name === name) Object.assign(one, to);
    return null;
  }
  function claim(name: string): void {
    if (known.some((one) => one.name === name)) throw problem("endpoint-exists", { name }, "change-input");
  }
  const answers = {
    endpoints: () => known,
    add_endpoint({ input }) {
      claim(input.name);
      known.push(endpoint(input));
      return null;
    },
    plan_endpoint: ({ name }) =>
      moved(
        inUse(),
        name,
        known.find((one) => one.name === name),
      ),
    set_endpoint_address({ name, base_url, same_authority }) {
      if (!same_authority) throw problem("endpoint-has-reports", { all: "3", name, open: "1" }, "look-again");
      return change(name, { baseUrl: base_url });
    },
    set_endpoint_way({ name, ca_pem, proxy }) {
      if (ca_pem !== null) change(name, { ownCa: ca_pem !== "", ca: ca_pem === "" ? null : "CN=Example CA" });
      if (proxy !== null) change(name, { proxy: proxy === "" ? null : proxy });
      return null;
    },
    set_endpoint_terms: ({ name, release, language }) => change(name, { release: release as Release, language }),
    rename_endpoint({ name, new_name }) {
      claim(new_name);
      return change(name, { name: new_name });
    },
    remove_endpoint({ name }) {
      const at = known.findIndex((one) => one.name === name);
      if (known[at]?.inUse) throw problem("endpoint-in-use", { name }, "look-again");
      if (at >= 0) known.splice(at, 1);
      return null;
    },
    use_endpoint({ name }) {
      if ((inUse()?.name === "practice") !== (name === "practice")) room += 1;
      for (const one of known) one.inUse = one.name === name;
      return null;
    },
    try_now({ endpoint }) {
      if (inUse()?.name === endpoint) isReached = true;
      away = away.map((one) => (one.endpoint === endpoint ? { ...one, problem: null, triesAgain: false } : one));
      return true;
    },
    test_endpoint: ({ name }) => probed(name !== "practice"),
  } satisfies Partial<Answers>;
  const status = () => {
    const one = inUse();
    return {
      environment: one?.environment ?? "practice",
      endpoint: one?.name ?? "",
      endpointId: one?.name ?? "",
      baseUrl: one?.baseUrl ?? "",
      release: "1.13.1",
      connection: isReached ? "connected" : "unreachable",
      triesAgain: !isReached,
      problem: isReached ? null : problem("connect-refused", {}, "retry", "network"),
      lastContact: new Date(now - 40_000).toISOString(),
      tested: null,
      room,
      elsewhere: away,
      laboratory: null,
    } satisfies Partial<StatusView>;
  };
  return { known: known as readonly EndpointView[], answers, status };
}

function endpoint({
  name,
  baseUrl,
  environment,
}: Pick<EndpointInput, "name" | "baseUrl" | "environment">): EndpointView {
  return {
    name,
    baseUrl,
    environment,
    release: "1.13.1",
    language: "de-CH",
    ownCa: environment === "practice",
    ca: null,
    proxy: null,
    inUse: false,
  };
}

/** What it would mean to use another endpoint. */
function moved(from: EndpointView | undefined, to: string, next: EndpointView | undefined): MoveView {
  const toEnvironment = next?.environment ?? "production";
  return {
    from: from?.name ?? null,
    fromEnvironment: from?.environment ?? null,
    to,
    toEnvironment,
    leavesProduction:
      from?.environment === "production" && toEnvironment !== "production" && toEnvironment !== "practice",
    toProduction: toEnvironment === "production" && from !== undefined && from.environment !== "production",
    stay: [],
    watchedFolder: null,
    needs: null,
  };
}

/** A test of every layer, or one that ends where the authority refuses the certificate. */
function probed(isRefused: boolean): ProbeView[] {
  return LAYERS.map((layer, at) => ({
    layer,
    outcome: !isRefused || at < 5 ? "passed" : at === 5 ? "failed" : "not-reached",
    problem:
      isRefused && at === 5 ? problem("tls-client-refused", { alert: "unknown_ca" }, "import-certificate") : null,
    detail: layer === "tls" ? "TLSv1.3" : layer === "capability" && !isRefused ? "4.0.1" : null,
  }));
}
