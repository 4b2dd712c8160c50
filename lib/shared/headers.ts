// Headers between the console's own parts.

/** Next sends no content-length that a handler sets: lib/http makes one of this. */
export const LENGTH_HEADER = "x-lightdesk-length";
/** With an answer to a member: 1 while the console is read-only, else 0. So a page that is open learns of it. */
export const READ_ONLY_HEADER = "x-lightdesk-read-only";
