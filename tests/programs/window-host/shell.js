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
        early.splice(0).forEach(tell);
        return takes.handler;
      }
      if (command === "plugin:event|unlisten") return null;
      return call(command, takes);
    },
  };
  window.__TAURI_EVENT_PLUGIN_INTERNALS__ = {
    unregisterListener: (_event, id) => listeners.delete(id),
  };

  // What comes before the page listens, and is told once it does: the frame of the page may stand there a little earlier.
  const early = [];

  function tell(told) {
    const heard = [...listeners].filter(([, of]) => of === told.event);
    if (heard.length === 0) early.push(told);
    for (const [id] of heard) callbacks.get(id)?.({ event: told.event, id, payload: told.payload });
  }

  // The way of events is HTTP here alone: where a request is cut, the next one asks for the same events. Ends with the page.
  async function follow() {
    for (let place = 0; ; ) {
      const events = await fetch(`/host/events?${place}`).then((answer) => answer.json()).catch(() => null);
      if (events === null) await new Promise((resume) => setTimeout(resume, 100));
      else {
        place += events.length;
        events.forEach(tell);
      }
    }
  }
  void follow();
})();
