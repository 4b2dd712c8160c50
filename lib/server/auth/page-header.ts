// The header in which the proxy tells a page its own address, which a page cannot ask for. Free of everything else: proxy.ts looks at it too.
// Must never: be trusted. The sign-in leads only to paths of this application, whatever it says.

import "server-only";

export const PAGE_HEADER = "x-lightdesk-page";
