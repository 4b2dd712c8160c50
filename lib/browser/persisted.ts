import { writeExactJson } from "@/lib/contract/json/exact-json";
import { embedPath } from "@/lib/shared/console-paths";

/** A function, since a browser that forbids its storage throws as soon as it is accessed. */
export type BrowserStorage = () => Pick<Storage, "getItem" | "setItem" | "removeItem">;
export const ofTab: BrowserStorage = () => window.sessionStorage;
const ofBrowser: BrowserStorage = () => window.localStorage;

/** Once true, the tab stores nothing more, not even on unload. */
let isTabLeft = false;

function forgetOfTab(): void {
  const { sessionStorage } = window;
  for (const name of Object.keys(sessionStorage)) if (name.startsWith("lightdesk")) sessionStorage.removeItem(name);
}

export function forgetPerson(): void {
  isTabLeft = true;
  try {
    forgetOfTab();
  } catch {
    // The storage is forbidden, so nothing was kept.
  }
}

export function keepTo(memberId: string): void {
  const whose = (storage: BrowserStorage) =>
    persisted("lightdesk.member", (storedValue) => (typeof storedValue === "string" ? storedValue : undefined), storage);
  const [tab, browser] = [whose(ofTab), whose(ofBrowser)];
  try {
    if (tab.get() !== undefined && tab.get() !== memberId) forgetOfTab();
    if (browser.get() !== undefined && browser.get() !== memberId) for (const name of ofOne) window.localStorage.removeItem(name);
    // Components that show one of these values read it again.
    window.dispatchEvent(new StorageEvent("storage", { key: null }));
  } catch {
    // The storage is forbidden, so nothing was kept.
  }
  tab.set(memberId);
  browser.set(memberId);
}

/** The last one is no longer written. */
const ofOne = ["lightdesk.run.workflows", "lightdesk.notifications", "lightdesk.uploads.alarms"];

export type Persisted<T> = {
  get: () => T;
  set: (value: T) => boolean;
  forget: () => void;
  subscribe: (listener: () => void) => () => void;
};

type PersistedOptions = {
  maxCharacters?: number;
  /** Returns undefined if the text is not JSON. Graph values need the exact parser, which is not in the first load. */
  parse?: (text: string) => unknown;
};

export function persisted<T>(
  name: string,
  read: (storedValue: unknown) => T,
  area: BrowserStorage = ofBrowser,
  { maxCharacters = Infinity, parse = parsePlainJson }: PersistedOptions = {},
): Persisted<T> {
  const listeners = new Set<() => void>();
  const here = embedPath();
  const key = here === "" ? name : `${here} ${name}`;
  const storage = here === "" ? area : ofTab;
  let unstored: string | null | undefined;
  let last: { text: string | null; value: T } | undefined;

  function text(): string | null {
    if (unstored !== undefined) return unstored;
    try {
      return storage().getItem(key);
    } catch {
      return null;
    }
  }
  function become(next: string | null): boolean {
    unstored = next;
    if (isTabLeft && storage === ofTab && next !== null) return false;
    try {
      if (next === null) storage().removeItem(key);
      else if (next.length <= maxCharacters) storage().setItem(key, next);
      if (next === null || next.length <= maxCharacters) unstored = undefined;
    } catch {
      // The storage is full or forbidden.
    }
    for (const notify of listeners) notify();
    return unstored === undefined;
  }
  return {
    get() {
      const now = text();
      if (last?.text !== now || !last) last = { text: now, value: read(now === null ? undefined : (parse(now) ?? now)) };
      return last.value;
    },
    set: (value) => become(writeExactJson(value)),
    forget: () => void become(null),
    subscribe(listener) {
      const other = (event: StorageEvent) => {
        if (event.key === null || event.key === key) listener();
      };
      listeners.add(listener);
      window.addEventListener("storage", other);
      return () => {
        listeners.delete(listener);
        window.removeEventListener("storage", other);
      };
    },
  };
}

function parsePlainJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
