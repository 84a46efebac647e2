// The door of a window in a browser, with the made-up core behind it: options by its address, files by its own
// drag events.

import type { Door } from "../door";
import type { ElsewhereView } from "../generated/ElsewhereView";
import type { Environment } from "../generated/Environment";
import type { Theme } from "../generated/Theme";
import { problem } from "./answers";
import { createMock } from "./core";
import { spoiled } from "./hostile";
import { AWAY, RECOVERED, REFUSED } from "./notices";

const UNREACHABLE: ElsewhereView = {
  endpoint: "Produktion",
  count: 3,
  environment: "production",
  connection: "unreachable",
  problem: problem("timeout", {}, "retry", "network"),
  triesAgain: true,
};

function browserDoor(): Door {
  const asked = new URLSearchParams(globalThis.location?.search ?? "");
  const core = createMock({
    rows: Number(asked.get("rows") ?? 64),
    environment: (asked.get("environment") as Environment | null) ?? "practice",
    firstRunDone: !asked.has("first"),
    language: asked.get("language"),
    theme: (asked.get("theme") ?? "system") as Theme,
    passphrase: asked.get("passphrase") ?? "",
    closed: asked.has("closed"),
    sealed: asked.has("sealed"),
    keychain: asked.get("keychain") !== "none",
    update: asked.get("update"),
    watched: asked.has("watched"),
    unreachable: asked.has("unreachable"),
    elsewhere: asked.has("elsewhere") ? [UNREACHABLE] : [],
    notices: [...(asked.has("recovered") ? [RECOVERED] : []), ...(asked.has("watched") ? [REFUSED, AWAY] : [])],
  });
  // A test puts a text here, before the page begins, that then stands wherever words from outside stand.
  const { hostile } = globalThis as { hostile?: string };
  return {
    entered: core.entered,
    here() {
      return this;
    },
    call: async (command, ...takes) => {
      const given = await core.call(command, ...takes);
      return hostile === undefined ? given : spoiled(given, hostile);
    },
    listen(handlers) {
      const end = core.listen(handlers);
      const enter = (event: DragEvent) => {
        event.preventDefault();
        handlers.drag({ phase: "enter" });
      };
      const leave = (event: DragEvent) => event.relatedTarget === null && handlers.drag({ phase: "leave" });
      const drop = (event: DragEvent) => {
        event.preventDefault();
        handlers.dropped({ paths: [...(event.dataTransfer?.files ?? [])].map((file) => `/dropped/${file.name}`) });
      };
      const tested = ({ detail: paths }: CustomEvent<string[]>) => handlers.dropped({ paths });
      document.addEventListener("dragover", enter);
      document.addEventListener("dragleave", leave);
      document.addEventListener("drop", drop);
      document.addEventListener("mock-drop", tested as EventListener);
      return () => {
        end();
        document.removeEventListener("dragover", enter);
        document.removeEventListener("dragleave", leave);
        document.removeEventListener("drop", drop);
        document.removeEventListener("mock-drop", tested as EventListener);
      };
    },
  };
}

export const door: Door = browserDoor();
