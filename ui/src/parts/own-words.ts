// The words of the authority or of a rule about all reports of a cause: those about the newest report, and while names are
// hidden without its patient, as that report itself says them.

import { useDetail } from "../bridge/queries";
import { masked } from "../causes";
import type { Cause } from "../causes";
import { useWindow } from "../place";
import { hiding } from "./veil";

/** `null` where nothing was said, and until it is known whom the words may name. */
export function useOwnWords(cause: Cause, areWanted = true): string | null {
  const { reveal } = useWindow();
  const words = (areWanted && cause.message?.text) || null;
  const newest = useDetail(cause.rows[0]?.id ?? 0, !reveal && words !== null).data;
  if (words === null || reveal) return words;
  return newest ? hiding(newest.row.patient)(masked(words)) : null;
}
