// Our own headers, between the server and the pages. Imports nothing, because proxy.ts uses them too.

import "server-only";

/** A page's own address, which pages cannot read otherwise. Not trusted: the sign-in leads only to paths of this application. */
export const PAGE_HEADER = "x-lightdesk-page";
/** The address that the reverse proxy vouches for. Our HTTP server writes it after removing what a client sent under that name. */
export const VOUCHED_HEADER = "x-lightdesk-vouched";
