// Small texts that this browser keeps: reading, writing and removing them.
// Guarantees: never throws, since a browser may forbid its storage or have none left; a text that could not be kept is told as that.

/** `storage` is sessionStorage, asked for only when needed: a browser that forbids it throws at the mere mention. */
export type TabStorage = () => Pick<Storage, "getItem" | "setItem" | "removeItem">;
export const tabStorage: TabStorage = () => window.sessionStorage;

/** False where it could not be kept. */
export function keepText(storage: TabStorage, key: string, text: string): boolean {
  try {
    storage().setItem(key, text);
    return true;
  } catch {
    // Full or forbidden.
    return false;
  }
}

/** Empty where there is none. */
export function keptText(storage: TabStorage, key: string): string {
  try {
    return storage().getItem(key) ?? "";
  } catch {
    return "";
  }
}

export function forgetText(storage: TabStorage, key: string): void {
  try {
    storage().removeItem(key);
  } catch {
    // Where nothing can be kept there is nothing to forget.
  }
}
