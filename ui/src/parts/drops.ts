// Where dropped files go while a dialog is open: into it, where it takes files; otherwise nowhere.

import { useEffect } from "react";

type Receiver = (paths: string[]) => unknown;

let receivers: Receiver[] = [];

/** The innermost dialog that takes files, if any. */
export const dropReceiver = (): Receiver | undefined => receivers.at(-1);

/** Takes what is dropped on the window as long as this is on the screen. */
export function useDropInto(receive: Receiver): void {
  useEffect(() => {
    receivers = [...receivers, receive];
    return () => {
      receivers = receivers.filter((other) => other !== receive);
    };
  }, [receive]);
}
