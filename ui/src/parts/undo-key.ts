// Ctrl+Z takes back what was just sent.

import { useEffect } from "react";

import { isDialogOpen } from "../kit/dialog";

export function useUndoKey(undo: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      // In a dialog it undoes what is being written there.
      if (event.defaultPrevented || isDialogOpen()) return;
      const typing =
        event.target instanceof HTMLElement &&
        event.target.closest("input, textarea, [contenteditable], [data-typing]");
      if (event.key === "z" && (event.ctrlKey || event.metaKey) && !typing) undo();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
}
