// Headers of our own, between the server and the pages. Imports nothing else, since proxy.ts uses them too.

import "server-only";

/** A page's own address, which it cannot ask for. Not to be trusted: the sign-in leads only to paths of this application, whatever it says. */
export const PAGE_HEADER = "x-lightdesk-page";
/** Written by our own HTTP server, after removing what a client sent under that name: the address that the reverse proxy named. */
export const VOUCHED_HEADER = "x-lightdesk-vouched";
