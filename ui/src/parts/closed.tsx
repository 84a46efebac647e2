// The laboratory that was in use does not open: nobody is in practice, which stands in for it, so nothing shows that.

import { LockKeyhole } from "lucide-react";

import type { StatusView } from "../bridge/generated/StatusView";
import { useStatus } from "../bridge/queries";
import { useText } from "../i18n/text";
import { Empty } from "../kit/notes";
import screen from "../kit/screen.module.css";
import type { Screen } from "../place";

/** It waits for its passphrase, or something else keeps it closed. */
export type Closed = "sealed" | "other";

export function closedOf(status: StatusView | undefined): Closed | null {
  if (!status?.laboratory?.closed) return null;
  return status.problem?.code === "passphrase-needed" ? "sealed" : "other";
}

export const useClosed = (): Closed | null => closedOf(useStatus().data);

/** Screens that have nothing to show before it is open. */
const ABOUT_LABORATORY = new Set<Screen>(["reports", "correct", "overview", "ask", "certificate"]);

export const isOfLaboratory = (of: Screen): boolean => ABOUT_LABORATORY.has(of);

/** In the place of such a screen. Why it is closed, and the way in, stand above every screen. */
export function ClosedScreen({ of, closed }: { of: Screen; closed: Closed }) {
  const text = useText();
  return (
    <>
      <header className={screen.header}>
        <h1>{text(`nav.${of}`)}</h1>
      </header>
      <div className={screen.body} data-testid="closed-screen">
        <Empty icon={LockKeyhole} title={text(`closed.${closed}.screen`)}>
          {text(`closed.${closed}.screen.more`)}
        </Empty>
      </div>
    </>
  );
}
