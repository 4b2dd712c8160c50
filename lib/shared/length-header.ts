/** Next sends no content-length that a handler sets: lib/http makes one of this. */
export const LENGTH_HEADER = "x-lightdesk-length";
