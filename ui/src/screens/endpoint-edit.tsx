// What can be changed of an authority: all that was said of it but whether it is a test system or the real one, and
// whether it is there at all. What was sent stays with it.

import { Trash2 } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";

import type { EndpointView } from "../bridge/generated/EndpointView";
import { useCommand } from "../bridge/queries";
import { useText } from "../i18n/text";
import { Button, Switch, TextField } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import { Notice, ProblemNote, problemText } from "../kit/notes";
import { showInside } from "../kit/scroll";
import { say } from "../kit/toasts";
import { useDropInto } from "../parts/drops";
import { Ca, SameAddress, Terms, hasUsualPath, useCa } from "./endpoint-dialog";
import fields from "./endpoint-dialog.module.css";

/** `caFile`: the file of its CA, where that was chosen first. `onDone`: closes it once what was changed is kept. */
export function EndpointEdit(props: {
  endpoint: EndpointView;
  caFile?: string | undefined;
  onDone: () => void;
  onClose: () => void;
}) {
  const { endpoint, caFile, onDone, onClose } = props;
  const text = useText();
  // What is changed already when the other part is refused: the form goes on from there.
  const [known, setKnown] = useState({ name: endpoint.name, baseUrl: endpoint.baseUrl });
  const [name, setName] = useState(endpoint.name);
  const [baseUrl, setBaseUrl] = useState(endpoint.baseUrl);
  const [same, setSame] = useState(false);
  const own = useCa(caFile);
  /** The CA of before is done without. */
  const [withoutCa, setWithoutCa] = useState(false);
  const [proxy, setProxy] = useState(endpoint.proxy ?? "");
  const [terms, setTerms] = useState({ release: endpoint.release, language: endpoint.language });
  // What differs from what most have is in sight.
  const [isOpen, setOpen] = useState(endpoint.ownCa || endpoint.proxy !== null || caFile !== undefined);
  const { take } = own;
  const takeCa = useCallback(
    (paths: string[]) => {
      take(paths);
      setOpen(true);
    },
    [take],
  );
  useDropInto(takeCa);
  const [removing, setRemoving] = useState(false);
  const rename = useCommand("rename_endpoint");
  const move = useCommand("set_endpoint_address");
  const lead = useCommand("set_endpoint_way");
  const agree = useCommand("set_endpoint_terms");
  const remove = useCommand("remove_endpoint", {
    onDone() {
      onClose();
      say({ tone: "done", title: text("endpoint.removed", { name: known.name }) });
    },
  });
  const isRenamed = name.trim() !== known.name;
  const isMoved = baseUrl.trim() !== known.baseUrl;
  const newCa = own.ca?.pem ?? (withoutCa ? "" : null);
  const newProxy = proxy.trim() === (endpoint.proxy ?? "") ? null : proxy.trim();
  const isLed = newCa !== null || newProxy !== null;
  const isAgreed = terms.release !== endpoint.release || terms.language !== endpoint.language;
  const isDirty = isRenamed || isMoved || isLed || isAgreed;
  const finish = () => {
    onDone();
    say({ tone: "done", title: text("endpoint.changed", { name: name.trim() }) });
  };
  const saveWay = () => {
    if (!isLed) return saveTerms();
    lead.mutate({ name: known.name, ca_pem: newCa, proxy: newProxy }, { onSuccess: saveTerms });
  };
  const saveTerms = () => {
    if (!isAgreed) return saveName();
    agree.mutate({ name: known.name, ...terms }, { onSuccess: saveName });
  };
  const saveName = () => {
    if (!isRenamed) return finish();
    rename.mutate({ name: known.name, new_name: name.trim() }, { onSuccess: finish });
  };
  const save = () => {
    if (!isMoved) return saveWay();
    const wanted = { name: known.name, base_url: baseUrl.trim(), same_authority: same };
    const onSuccess = () => {
      setKnown((old) => ({ ...old, baseUrl: wanted.base_url }));
      saveWay();
    };
    move.mutate(wanted, { onSuccess });
  };
  const problem = move.error ?? lead.error ?? agree.error ?? rename.error ?? remove.error;
  return (
    <Dialog
      title={text("endpoint.edit.title", { name: endpoint.name })}
      isDirty={isDirty}
      onClose={onClose}
      footer={
        <>
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button
            tone="primary"
            isDisabled={!name.trim() || !isDirty || own.problem !== undefined}
            isPending={[rename, move, lead, agree].some((one) => one.isPending)}
            onPress={save}
            data-testid="endpoint-change"
          >
            {text("endpoint.change")}
          </Button>
        </>
      }
    >
      <TextField
        label={text("endpoint.name")}
        help={text("endpoint.rename.help")}
        value={name}
        onChange={setName}
        autoFocus
      />
      <TextField
        label={text("endpoint.address")}
        error={move.error?.code === "argument-invalid" ? text("endpoint.address.wrong") : undefined}
        type="url"
        value={baseUrl}
        onChange={setBaseUrl}
      />
      {isMoved && !hasUsualPath(baseUrl) && (
        <Notice tone="caution" title={text("endpoint.unusual")} role="status">
          {text("endpoint.unusual.more")}
        </Notice>
      )}
      {isMoved && <SameAddress address={baseUrl} environment={endpoint.environment} but={known.name} />}
      {isMoved && (
        <Switch isSelected={same} onChange={setSame}>
          <span>{text("endpoint.same")}</span>
        </Switch>
      )}
      <details className={fields.advanced} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{text("endpoint.advanced")}</summary>
        <div className={fields.fields}>
          <Ca
            ca={own.ca}
            known={withoutCa ? null : endpoint.ca}
            problem={own.problem}
            onChoose={own.choose}
            onRemove={() => (own.ca || own.problem ? own.clear() : setWithoutCa(true))}
          />
          <Terms {...terms} onChange={(change) => setTerms((old) => ({ ...old, ...change }))} />
          <TextField
            label={text("endpoint.proxy")}
            help={text("endpoint.proxy.help")}
            error={lead.error?.params.argument === "proxy" ? problemText(text, lead.error).title : undefined}
            value={proxy}
            onChange={setProxy}
          />
        </div>
      </details>
      {problem && problem.code !== "argument-invalid" && <ProblemNote problem={problem} />}
      {removing ? (
        <Removal name={known.name} isPending={remove.isPending} onConfirm={() => remove.mutate({ name: known.name })} />
      ) : (
        <div>
          <Button tone="quiet" icon={Trash2} onPress={() => setRemoving(true)} data-testid="endpoint-remove">
            {text("endpoint.remove")}
          </Button>
        </div>
      )}
    </Dialog>
  );
}

/** Asks before an authority is removed, in sight: the form above may be longer than the window. */
function Removal({ name, isPending, onConfirm }: { name: string; isPending: boolean; onConfirm: () => void }) {
  const text = useText();
  const own = useRef<HTMLDivElement>(null);
  useEffect(() => showInside(own.current), []);
  return (
    <div ref={own}>
      <Notice tone="attention" title={text("endpoint.remove.ask", { name })}>
        <p>{text("endpoint.remove.more")}</p>
        <Button tone="danger" isPending={isPending} onPress={onConfirm} data-testid="endpoint-remove-confirm">
          {text("endpoint.remove")}
        </Button>
      </Notice>
    </div>
  );
}
