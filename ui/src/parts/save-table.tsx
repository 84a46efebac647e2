// A table as a file for a spreadsheet, where the person says.

import { Download } from "lucide-react";
import { useState } from "react";

import { door } from "#door";

import { problemOf } from "../bridge/door";
import { useText } from "../i18n/text";
import { Button } from "../kit/controls";
import { say, sayProblem } from "../kit/toasts";

interface Table {
  /** Made when it is asked for. */
  table: () => string | Promise<string>;
  /** What is said once it is saved. */
  saved?: string;
}

export function useSaveTable({ table, saved: said }: Table): { busy: boolean; save: () => Promise<void> } {
  const text = useText();
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const saved = await door.call("save_table", { text: await table() });
      if (saved) say({ tone: "done", title: said ?? text("table.saved") });
    } catch (thrown) {
      sayProblem(text)(problemOf(thrown));
    } finally {
      setBusy(false);
    }
  };
  return { busy, save };
}

export function SaveTable(props: Table & { "data-testid"?: string }) {
  const text = useText();
  const { busy, save } = useSaveTable(props);
  return (
    <Button
      tone="quiet"
      icon={Download}
      isPending={busy}
      onPress={() => void save()}
      data-testid={props["data-testid"]}
    >
      {text("table.save")}
    </Button>
  );
}
