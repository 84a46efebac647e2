// What a passphrase that is chosen still lacks: said beside the fields, so that nobody wonders why it cannot be used.

/** Too short, not entered a second time, or entered otherwise. */
export type Lack = "short" | "again" | "differs";

/** `least`: characters, as the core counts them. What is only begun the second time does not differ yet. */
export function lackOf(chosen: string, again: string, least: number): Lack | null {
  if (!chosen.startsWith(again)) return "differs";
  if (isShort(chosen, least)) return "short";
  return chosen === again ? null : "again";
}

/** Whether it is too short, whatever else it lacks: that stands beside it until it is not. */
export const isShort = (chosen: string, least: number): boolean => [...chosen].length < least;
