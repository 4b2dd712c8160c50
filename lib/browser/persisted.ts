// One value that this browser keeps under a name, for the tab or without an end.
// Guarantees: never throws, since a browser may forbid its storage or have none left: then the value holds until the page goes; what was
// stored by an older version or by a person's hands goes through `read`. An embedded page keeps things for its own session and the tab alone.
// Must never: be read while the page hydrates.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseJson } from "@/lib/contract/json/json";
import { place } from "@/lib/shared/place";

/** Asked for only when needed: a browser that forbids it throws at the mere mention. */
export type KeptIn = () => Pick<Storage, "getItem" | "setItem" | "removeItem">;
export const ofTab: KeptIn = () => window.sessionStorage;
export const ofBrowser: KeptIn = () => window.localStorage;

/** Nothing more is kept in the tab, neither by what writes as the page goes. */
let isTabLeft = false;

function forgetOfTab(): void {
  const { sessionStorage } = window;
  for (const name of Object.keys(sessionStorage)) if (name.startsWith("lightdesk")) sessionStorage.removeItem(name);
}

/** The member signs out: what was typed and not sent goes from this tab. What this browser is set to stays. */
export function forgetPerson(): void {
  isTabLeft = true;
  try {
    forgetOfTab();
  } catch {
    // Forbidden: then nothing was kept.
  }
}

/** Another person is signed in than before, whose session ended by itself: what they left is removed. */
export function keepTo(memberId: string): void {
  const whose = (storage: KeptIn) => persisted("lightdesk.member", (kept) => (typeof kept === "string" ? kept : undefined), storage);
  const [tab, browser] = [whose(ofTab), whose(ofBrowser)];
  try {
    if (tab.get() !== undefined && tab.get() !== memberId) forgetOfTab();
    if (browser.get() !== undefined && browser.get() !== memberId) for (const name of ofOne) window.localStorage.removeItem(name);
    // Components that show one of them read it again.
    window.dispatchEvent(new StorageEvent("storage", { key: null }));
  } catch {
    // Forbidden: then nothing was kept.
  }
  tab.set(memberId);
  browser.set(memberId);
}

/** In this browser: names of files, and of inputs of workflows. */
const ofOne = ["lightdesk.uploads.alarms", "lightdesk.run.workflows"];

export type Persisted<T> = {
  /** The same object until it is another value. */
  get: () => T;
  /** False where it could not be kept. */
  set: (value: T) => boolean;
  forget: () => void;
  /** Tells of each change, of other tabs as well. */
  subscribe: (listener: () => void) => () => void;
};

/** `read` gets what was kept: parsed JSON, else the text, undefined where there is nothing. Longer texts than `mostCharacters` are not kept. */
export function persisted<T>(
  name: string,
  read: (kept: unknown) => T,
  keptIn: KeptIn = ofBrowser,
  mostCharacters = Infinity,
): Persisted<T> {
  const listeners = new Set<() => void>();
  const here = place();
  const key = here === "" ? name : `${here} ${name}`;
  const storage = here === "" ? keptIn : ofTab;
  /** What could not be kept, null where it could not be removed. */
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
      else if (next.length <= mostCharacters) storage().setItem(key, next);
      if (next === null || next.length <= mostCharacters) unkept = undefined;
    } catch {
      // Full or forbidden.
    }
    for (const notify of listeners) notify();
    return unkept === undefined;
  }
  return {
    get() {
      const now = text();
      if (last?.text !== now || !last) last = { text: now, value: read(now === null ? undefined : (parseJson(now) ?? now)) };
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
