// The real door: the only file that knows Tauri.

import { invoke } from "@tauri-apps/api/core";
import { listen as listenTo } from "@tauri-apps/api/event";

import type { Caller, Command, Commands, CoreEvents, CoreHandlers, Door } from "./door";
import type { StatusView } from "./generated/StatusView";

function on<E extends keyof CoreEvents>(event: E, handlers: CoreHandlers): () => void {
  const ending = listenTo<CoreEvents[E]>(event, ({ payload }) => handlers[event](payload));
  return () => void ending.then((end) => end());
}

/** The room of the last status: the numbers that the page has in hand are those of its reports. */
let room: number | undefined;
let enter = () => {};
const entered = new Promise<void>((is) => (enter = is));

/** Every call says in which room: in another one a number is another report's, and files go to another authority. */
function callerIn(believed: () => number | undefined): Caller {
  return {
    async call<C extends Command>(
      command: C,
      ...[takes]: Commands[C]["takes"] extends void ? [] : [Commands[C]["takes"]]
    ) {
      const said = believed();
      const named = said === undefined ? takes : { ...takes, room: said };
      const answer = await invoke<Commands[C]["gives"]>(command, named as Record<string, unknown> | undefined);
      if (command === "status") {
        ({ room } = answer as StatusView);
        enter();
      }
      return answer;
    },
  };
}

export const door: Door = {
  ...callerIn(() => room),
  here() {
    const now = room;
    return callerIn(() => now);
  },
  entered: () => entered,
  listen(handlers) {
    const ends = [on("changed", handlers), on("drag", handlers), on("dropped", handlers), on("opened", handlers)];
    return () => ends.forEach((end) => end());
  },
};
