// Where dropped files go while a dialog is open: into it, where it takes files; otherwise nowhere.

import { useLayoutEffect } from "react";

type Receiver = (paths: string[]) => unknown;

let receivers: Receiver[] = [];

/** The innermost dialog that takes files, if any. */
export const dropReceiver = (): Receiver | undefined => receivers.at(-1);

/** Takes what is dropped on the window as long as this is on the screen, and not a moment longer: nothing is dropped into what is gone. */
export function useDropInto(receive: Receiver): void {
  useLayoutEffect(() => {
    receivers = [...receivers, receive];
    return () => {
      receivers = receivers.filter((other) => other !== receive);
    };
  }, [receive]);
}
