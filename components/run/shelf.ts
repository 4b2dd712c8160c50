// Small texts that this browser keeps: what lies there, laid there, taken away.
// Guarantees: never throws, since a browser may forbid its storage or have none left; a text that could not be kept is told as that.

/** `shelf` is sessionStorage, asked for only when needed: a browser that forbids it throws at the mere mention. */
export type Shelf = () => Pick<Storage, "getItem" | "setItem" | "removeItem">;
export const tabShelf: Shelf = () => window.sessionStorage;

/** False where it could not be kept. */
export function keepText(shelf: Shelf, key: string, text: string): boolean {
  try {
    shelf().setItem(key, text);
    return true;
  } catch {
    // Full or forbidden.
    return false;
  }
}

/** Empty where there is none. */
export function keptText(shelf: Shelf, key: string): string {
  try {
    return shelf().getItem(key) ?? "";
  } catch {
    return "";
  }
}

export function forgetText(shelf: Shelf, key: string): void {
  try {
    shelf().removeItem(key);
  } catch {
    // Where nothing can be kept there is nothing to forget.
  }
}
