// Ctrl+Z takes back what was just sent.

import { useEffect } from "react";

import { offerUndo } from "../kit/undo";

/** `since`: when it was sent; what was done later is taken back first. */
export function useUndoKey(since: number, undo: (() => void) | undefined): void {
  useEffect(() => (undo ? offerUndo(since, undo) : undefined));
}
