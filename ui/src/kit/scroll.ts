/** Brings an element into view by scrolling the panes around it, never the window itself. */
export function showInside(element: Element | null | undefined): void {
  if (!element) return;
  for (let pane = element.parentElement; pane && pane !== document.body; pane = pane.parentElement) {
    if (pane.scrollHeight <= pane.clientHeight || getComputedStyle(pane).overflowY === "visible") continue;
    const [inner, outer] = [element.getBoundingClientRect(), pane.getBoundingClientRect()];
    pane.scrollTop += inner.top - outer.top - (pane.clientHeight - Math.min(inner.height, pane.clientHeight)) / 2;
  }
}
