// The real door: the only file that knows Tauri.

import { invoke } from "@tauri-apps/api/core";
import { listen as listenTo } from "@tauri-apps/api/event";

import type { CoreEvents, CoreHandlers, Door } from "./door";

function on<E extends keyof CoreEvents>(event: E, handlers: CoreHandlers): () => void {
  const ending = listenTo<CoreEvents[E]>(event, ({ payload }) => handlers[event](payload));
  return () => void ending.then((end) => end());
}

export const door: Door = {
  call: (command, ...[takes]) => invoke(command, takes ?? undefined),
  listen(handlers) {
    const ends = [on("changed", handlers), on("drag", handlers), on("dropped", handlers)];
    return () => ends.forEach((end) => end());
  },
};
