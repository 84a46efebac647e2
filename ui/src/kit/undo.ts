// Ctrl+Z takes back what was done last of what can be taken back, wherever its button stands.

import { isDialogOpen } from "./dialog";

/** What can be taken back, and since when. */
interface Offer {
  since: number;
  undo: () => void;
}

const offers = new Set<Offer>();

function press(event: KeyboardEvent): void {
  // In a dialog it undoes what is being written there.
  if (event.defaultPrevented || isDialogOpen()) return;
  const isTyping =
    event.target instanceof HTMLElement && event.target.closest("input, textarea, [contenteditable], [data-typing]");
  if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || isTyping) return;
  [...offers]
    .toSorted((a, b) => a.since - b.since)
    .at(-1)
    ?.undo();
}

/** From now on it can be taken back by the key, until what this gives is called. */
export function offerUndo(since: number, undo: () => void): () => void {
  const offer = { since, undo };
  if (offers.size === 0) document.addEventListener("keydown", press);
  offers.add(offer);
  return () => {
    offers.delete(offer);
    if (offers.size === 0) document.removeEventListener("keydown", press);
  };
}
