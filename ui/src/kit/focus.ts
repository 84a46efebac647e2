// Whoever works with the keyboard keeps their place: where what has the focus goes away, or can no longer be pressed, the
// nearest place that is still there takes it. `data-takes-focus` marks such a place; `own` one that takes only what was in it.

import { useEffect } from "react";

const PLACE = '[data-takes-focus=""]';
const OWN_PLACE = "[data-takes-focus]";

/** What had the focus, and all that was around it: what is taken out of the page no longer knows where it stood. */
interface Had {
  element: Element;
  around: Element[];
}

function had(element: Element): Had {
  const around = [];
  for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) around.push(at);
  return { element, around };
}

const isThere = (element: Element) => element.isConnected && element.getClientRects().length > 0;
const isAble = (element: Element) => isThere(element) && !element.matches(":disabled");

/** The place nearest to what had the focus; of several the last, which is what was opened beside the others. */
function nearest({ element, around }: Had): Element | undefined {
  if (isAble(element)) return element;
  for (const one of around.filter(isThere)) {
    const place = one.matches(OWN_PLACE) ? one : [...one.querySelectorAll(PLACE)].findLast(isThere);
    if (place) return place;
  }
  return undefined;
}

function take(place: Element | null | undefined): void {
  if (!(place instanceof HTMLElement)) return;
  if (place.tabIndex < 0 && !place.hasAttribute("tabindex")) {
    // For this once: a press beside its words is no press on it.
    place.tabIndex = -1;
    place.addEventListener("blur", () => place.removeAttribute("tabindex"), { once: true });
  }
  place.focus();
}

/** Two frames later: whoever has another place in mind has taken the focus by then, and what was asked for is drawn. */
function later(act: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(act));
}

/** What was opened of a screen: the last place of it, or else its title. */
const opened = () =>
  [...document.querySelectorAll(`main ${PLACE}`)].findLast(isThere) ?? document.querySelector("main h1");

/** The focus follows to what is opened elsewhere in the window. */
export function followFocus(): void {
  later(() => take(opened()));
}

export function useFocusKept(): void {
  useEffect(() => {
    let [onScreen, inDialog]: (Had | undefined)[] = [];
    const notice = ({ target }: FocusEvent) => {
      if (!(target instanceof Element)) return;
      if (target.closest("[role=dialog]")) inDialog = had(target);
      else [onScreen, inDialog] = [had(target), undefined];
    };
    const keep = () => {
      if (document.activeElement !== document.body) return;
      const dialog = [...document.querySelectorAll("[role=dialog]")].at(-1);
      const last = inDialog ?? onScreen;
      // Somebody has pressed beside everything: that is no loss.
      if (!last || isAble(last.element)) return;
      if (dialog) take((inDialog && nearest(inDialog)) ?? dialog);
      else take((onScreen && nearest(onScreen)) ?? opened());
    };
    let waits = false;
    const watch = new MutationObserver(() => {
      if (waits || document.activeElement !== document.body) return;
      waits = true;
      later(() => {
        waits = false;
        keep();
      });
    });
    document.addEventListener("focusin", notice);
    watch.observe(document.body, {
      childList: true,
      subtree: true,
      attributes: true,
      attributeFilter: ["disabled", "hidden"],
    });
    return () => {
      document.removeEventListener("focusin", notice);
      watch.disconnect();
    };
  }, []);
}
