// A report whose answer was lost: since when, how often the authority was asked, when next, and what to ask it oneself
// when that takes long.

import type { DetailView } from "../bridge/generated/DetailView";
import { useFormat, useText } from "../i18n/text";
import { CopyButton } from "../kit/controls";
import { Notice } from "../kit/notes";

export function Doubt({ view }: { view: DetailView }) {
  const text = useText();
  const format = useFormat();
  const { row, timeline, identifier, digest } = view;
  if (row.state !== "unknown") return null;
  const began = timeline.findLastIndex((step) => step.event === "doubted");
  const sent = timeline.findLast((step) => step.event === "sending-started")?.at ?? row.created;
  const asked = timeline.slice(began + 1).filter((step) => step.event === "asked-in-vain").length;
  const due = timeline.at(-1)?.params["due"];
  const long = row.group === "needs-attention";
  // In numbers that the authority knows, and without the patient: it may go into a mail.
  const question = () => text("doubt.question", { identifier, digest, sent });
  return (
    <Notice
      tone="doubt"
      title={long ? text("doubt.long") : undefined}
      actions={long && <CopyButton label={text("doubt.copy")} value={question} data-testid="copy-question" />}
    >
      <p>
        {text("doubt.sent", { time: format.moment(sent) })} {text("doubt.asked", { n: asked })}{" "}
        {due && text("doubt.next", { time: format.moment(due) })}
      </p>
      {long && <p>{text("doubt.long.more")}</p>}
    </Notice>
  );
}
