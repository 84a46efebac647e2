// How the made-up core answers a command: with what the window expects, or with a problem.

import type { Command, Commands } from "../door";
import type { Problem } from "../generated/Problem";
import type { ProblemCode } from "../generated/ProblemCode";
import type { Remedy } from "../generated/Remedy";

/** An answer to each command. A part of the core has some of them; `core.ts` proves that none is missing. */
export type Answers = { [C in Command]: (takes: Commands[C]["takes"]) => Commands[C]["gives"] };

/** Why a command is refused, or what a person has to be told. */
export function problem(
  code: ProblemCode,
  params: Record<string, string>,
  remedy: Remedy,
  blame: Problem["blame"] = "you",
): Problem {
  return { code, params, blame, remedy, trace: "mock" };
}
