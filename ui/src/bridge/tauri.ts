// The real door: the only file that knows Tauri.

import { invoke } from "@tauri-apps/api/core";
import { listen as listenTo } from "@tauri-apps/api/event";

import type { Command, Commands, CoreEvents, CoreHandlers, Door } from "./door";
import type { StatusView } from "./generated/StatusView";

function on<E extends keyof CoreEvents>(event: E, handlers: CoreHandlers): () => void {
  const ending = listenTo<CoreEvents[E]>(event, ({ payload }) => handlers[event](payload));
  return () => void ending.then((end) => end());
}

/** The room of the last status: the numbers that the page has in hand are those of its reports. */
let room: number | undefined;

/** Arguments that name reports by number say in which room: in another one the number is another report's. */
function inRoom(takes: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  const query = takes?.query as { ids?: unknown } | undefined;
  const named = takes && ("id" in takes || "ids" in takes || (query?.ids ?? null) !== null);
  return named && room !== undefined ? { ...takes, room } : takes;
}

export const door: Door = {
  async call<C extends Command>(command: C, ...[takes]: Commands[C]["takes"] extends void ? [] : [Commands[C]["takes"]]) {
    const answer = await invoke<Commands[C]["gives"]>(command, inRoom(takes as Record<string, unknown> | undefined));
    if (command === "status") ({ room } = answer as StatusView);
    return answer;
  },
  listen(handlers) {
    const ends = [on("changed", handlers), on("drag", handlers), on("dropped", handlers)];
    return () => ends.forEach((end) => end());
  },
};
