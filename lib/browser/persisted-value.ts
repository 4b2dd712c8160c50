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
  // Embedded pages prefix their keys with the page's path and a space.
  for (const name of Object.keys(sessionStorage)) if (/(^| )lightdesk/.test(name)) sessionStorage.removeItem(name);
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
    createPersistedValue("lightdesk.member", (storedValue) => (typeof storedValue === "string" ? storedValue : undefined), storage);
  const [tabOwner, browserOwner] = [createMemberValue(tabStorage), createMemberValue(sharedStorage)];
  try {
    if (tabOwner.get() !== undefined && tabOwner.get() !== memberId) clearTabStorage();
    if (browserOwner.get() !== undefined && browserOwner.get() !== memberId)
      for (const name of memberKeys) window.localStorage.removeItem(name);
    // Makes components that show one of these values read it again.
    window.dispatchEvent(new StorageEvent("storage", { key: null }));
  } catch {
    // Storage is blocked, so nothing was stored.
  }
  tabOwner.set(memberId);
  browserOwner.set(memberId);
}

/** Keys to remove when another member signs in. The last one is legacy. */
const memberKeys = ["lightdesk.run.workflows", "lightdesk.notifications", "lightdesk.uploads.alarms"];

export type PersistedValue<T> = {
  get: () => T;
  set: (value: T) => boolean;
  remove: () => void;
  subscribe: (listener: () => void) => () => void;
};

type PersistedValueOptions = {
  maxCharacters?: number;
  /** Returns undefined for invalid JSON. Graph values need the exact parser, which is loaded lazily. */
  parse?: (text: string) => unknown;
};

export function createPersistedValue<T>(
  name: string,
  read: (storedValue: unknown) => T,
  preferredStorage: BrowserStorage = sharedStorage,
  { maxCharacters = Infinity, parse = parsePlainJson }: PersistedValueOptions = {},
): PersistedValue<T> {
  const listeners = new Set<() => void>();
  const embedPrefix = getEmbedPath();
  const key = embedPrefix === "" ? name : `${embedPrefix} ${name}`;
  const storage = embedPrefix === "" ? preferredStorage : tabStorage;
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
  function write(text: string | null): boolean {
    unstoredText = text;
    if (isSignedOut && storage === tabStorage && text !== null) return false;
    try {
      if (text === null) storage().removeItem(key);
      else if (text.length <= maxCharacters) storage().setItem(key, text);
      if (text === null || text.length <= maxCharacters) unstoredText = undefined;
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
    remove: () => void write(null),
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
