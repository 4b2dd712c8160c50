// One value that this browser keeps under a name, for the tab or for good.
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
