import { writeExactJson } from "@/lib/contract/json/exact-json";
import { embedPath } from "@/lib/shared/console-paths";

/** A function, since a browser that forbids its storage throws as soon as it is accessed. */
export type KeptIn = () => Pick<Storage, "getItem" | "setItem" | "removeItem">;
export const ofTab: KeptIn = () => window.sessionStorage;
export const ofBrowser: KeptIn = () => window.localStorage;

/** Once true, nothing more is kept in the tab, not even by code that writes as the page goes. */
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
  const whose = (storage: KeptIn) => persisted("lightdesk.member", (kept) => (typeof kept === "string" ? kept : undefined), storage);
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

const ofOne = ["lightdesk.uploads.alarms", "lightdesk.run.workflows"];

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
  read: (kept: unknown) => T,
  keptIn: KeptIn = ofBrowser,
  { maxCharacters = Infinity, parse = parsePlainJson }: PersistedOptions = {},
): Persisted<T> {
  const listeners = new Set<() => void>();
  const here = embedPath();
  const key = here === "" ? name : `${here} ${name}`;
  const storage = here === "" ? keptIn : ofTab;
  let unkept: string | null | undefined;
  let last: { text: string | null; value: T } | undefined;

  function text(): string | null {
    if (unkept !== undefined) return unkept;
    try {
      return storage().getItem(key);
    } catch {
      return null;
    }
  }
  function become(next: string | null): boolean {
    unkept = next;
    if (isTabLeft && storage === ofTab && next !== null) return false;
    try {
      if (next === null) storage().removeItem(key);
      else if (next.length <= maxCharacters) storage().setItem(key, next);
      if (next === null || next.length <= maxCharacters) unkept = undefined;
    } catch {
      // The storage is full or forbidden.
    }
    for (const notify of listeners) notify();
    return unkept === undefined;
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
