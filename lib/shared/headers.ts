// Headers that parts of the console send one another.

/** Next drops a content-length that a handler sets; lib/http turns this header into one. */
export const LENGTH_HEADER = "x-lightdesk-length";
/** Sent with an answer to a member: 1 while the console is read-only, else 0. This is how an open page learns of it. */
export const READ_ONLY_HEADER = "x-lightdesk-read-only";
