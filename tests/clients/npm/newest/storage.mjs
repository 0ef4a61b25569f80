// What @turnkey/core expects of a browser, for programs in Node: IndexedDB for its keys, storage for its sessions, and the
// address of the page. Nothing is kept after the program ends. Import it before @turnkey/core.

import "fake-indexeddb/auto";

class Storage {
  #items = new Map();
  getItem = (name) => this.#items.get(name) ?? null;
  setItem = (name, value) => void this.#items.set(name, value);
  removeItem = (name) => void this.#items.delete(name);
}

Object.assign(globalThis, {
  window: globalThis,
  document: {},
  location: { hostname: "app.example", origin: "https://app.example" },
  localStorage: new Storage(),
});
