// Headers that parts of the console send one another, and the one in which clients send their key.

/** Next drops a content-length that a handler sets; lib/http turns this header into one. */
export const LENGTH_HEADER = "x-lightdesk-length";
/** With a list that has no field for it: how many of its entries could not be read. */
export const UNREADABLE_HEADER = "x-lightdesk-unreadable";
/** Sent with an answer to a member: 1 while the console is read-only, else 0. This is how an open page learns of it. */
export const READ_ONLY_HEADER = "x-lightdesk-read-only";

/** The token of an `Authorization: Bearer` header. */
export function bearerIn(authorization: string | null | undefined): string | undefined {
  return /^bearer +(.+)$/i.exec(authorization?.trim() ?? "")?.[1];
}
