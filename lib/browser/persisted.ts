import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getEmbedPath } from "@/lib/shared/console-paths";

/** A function, because accessing blocked storage throws. */
export type BrowserStorage = () => Pick<Storage, "getItem" | "setItem" | "removeItem">;
export const tabStorage: BrowserStorage = () => window.sessionStorage;
const sharedStorage: BrowserStorage = () => window.localStorage;

/** Set at sign-out. The tab stores nothing afterwards, not even on unload. */
let isSignedOut = false;

function clearTabStorage(): void {
  const { sessionStorage } = window;
  for (const name of Object.keys(sessionStorage)) if (name.startsWith("lightdesk")) sessionStorage.removeItem(name);
}

export function clearPersonalStorage(): void {
  isSignedOut = true;
  try {
    clearTabStorage();
  } catch {
    // Storage is blocked, so nothing was stored.
  }
}

export function setStorageOwner(memberId: string): void {
  const createMemberValue = (storage: BrowserStorage) =>
    persisted("lightdesk.member", (storedValue) => (typeof storedValue === "string" ? storedValue : undefined), storage);
  const [tab, browser] = [createMemberValue(tabStorage), createMemberValue(sharedStorage)];
  try {
    if (tab.get() !== undefined && tab.get() !== memberId) clearTabStorage();
    if (browser.get() !== undefined && browser.get() !== memberId) for (const name of memberKeys) window.localStorage.removeItem(name);
    // Components that show one of these values read it again.
    window.dispatchEvent(new StorageEvent("storage", { key: null }));
  } catch {
    // Storage is blocked, so nothing was stored.
  }
  tab.set(memberId);
  browser.set(memberId);
}

/** Keys to remove when another member signs in. The last one is legacy. */
const memberKeys = ["lightdesk.run.workflows", "lightdesk.notifications", "lightdesk.uploads.alarms"];

export type Persisted<T> = {
  get: () => T;
  set: (value: T) => boolean;
  forget: () => void;
  subscribe: (listener: () => void) => () => void;
};

type PersistedOptions = {
  maxCharacters?: number;
  /** Returns undefined for invalid JSON. Graph values need the exact parser, which is loaded lazily. */
  parse?: (text: string) => unknown;
};

export function persisted<T>(
  name: string,
  read: (storedValue: unknown) => T,
  area: BrowserStorage = sharedStorage,
  { maxCharacters = Infinity, parse = parsePlainJson }: PersistedOptions = {},
): Persisted<T> {
  const listeners = new Set<() => void>();
  const embedPrefix = getEmbedPath();
  const key = embedPrefix === "" ? name : `${embedPrefix} ${name}`;
  const storage = embedPrefix === "" ? area : tabStorage;
  let unstoredText: string | null | undefined;
  let cachedValue: { text: string | null; value: T } | undefined;

  function readText(): string | null {
    if (unstoredText !== undefined) return unstoredText;
    try {
      return storage().getItem(key);
    } catch {
      return null;
    }
  }
  function write(next: string | null): boolean {
    unstoredText = next;
    if (isSignedOut && storage === tabStorage && next !== null) return false;
    try {
      if (next === null) storage().removeItem(key);
      else if (next.length <= maxCharacters) storage().setItem(key, next);
      if (next === null || next.length <= maxCharacters) unstoredText = undefined;
    } catch {
      // Storage is full or blocked.
    }
    for (const notify of listeners) notify();
    return unstoredText === undefined;
  }
  return {
    get() {
      const currentText = readText();
      if (cachedValue?.text !== currentText || !cachedValue)
        cachedValue = { text: currentText, value: read(currentText === null ? undefined : (parse(currentText) ?? currentText)) };
      return cachedValue.value;
    },
    set: (value) => write(writeExactJson(value)),
    forget: () => void write(null),
    subscribe(listener) {
      const onStorage = (event: StorageEvent) => {
        if (event.key === null || event.key === key) listener();
      };
      listeners.add(listener);
      window.addEventListener("storage", onStorage);
      return () => {
        listeners.delete(listener);
        window.removeEventListener("storage", onStorage);
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
