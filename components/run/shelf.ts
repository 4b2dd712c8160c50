/** `shelf` is sessionStorage, asked for only when needed: a browser that forbids it throws at the mere mention. */
export type Shelf = () => Pick<Storage, "getItem" | "setItem" | "removeItem">;
export const tabShelf: Shelf = () => window.sessionStorage;
