// What Tauri's own script gives the page, over HTTP: calls, and events of the shell.
(() => {
  // As the product does (`freezePrototype`).
  Object.freeze(Object.prototype);
  const callbacks = new Map();
  const listeners = new Map();
  let next = 1;

  async function call(command, takes) {
    const answer = await fetch(`/call/${command}`, { method: "POST", body: JSON.stringify(takes ?? {}) });
    if (answer.status === 404) throw new Error(`no command ${command}`);
    const given = await answer.json();
    if (!answer.ok) throw given;
    return given;
  }

  window.__TAURI_INTERNALS__ = {
    transformCallback(callback) {
      callbacks.set(next, callback);
      next += 1;
      return next - 1;
    },
    unregisterCallback: (id) => callbacks.delete(id),
    async invoke(command, takes) {
      if (command === "plugin:event|listen") {
        listeners.set(takes.handler, takes.event);
        return takes.handler;
      }
      if (command === "plugin:event|unlisten") return null;
      return call(command, takes);
    },
  };
  window.__TAURI_EVENT_PLUGIN_INTERNALS__ = {
    unregisterListener: (_event, id) => listeners.delete(id),
  };

  async function follow() {
    for (let place = 0; ; ) {
      const events = await fetch(`/host/events?${place}`).then((answer) => answer.json());
      place += events.length;
      for (const { event, payload } of events) {
        for (const [id, of] of listeners) if (of === event) callbacks.get(id)?.({ event, id, payload });
      }
    }
  }
  // Ends with the page, or with the host.
  follow().catch(() => undefined);
})();
