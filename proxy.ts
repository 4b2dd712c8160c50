// Before every page: the content policy with a nonce of its own. A page below the address of an embedded session is the console's page of
// the same name, which that host's origins alone may frame.
// Must never: authorise anything (pages do), or see /api: a proxy in front of an upload cuts its body at 10 MB without a word.

import { type NextRequest, NextResponse } from "next/server";
import { findEmbedPage } from "@/lib/contract/embed/embed-pages";
import { embedCookieAttributes, PAGE_HEADER, probeCookie } from "@/lib/server/cookies";
import { getProcessState } from "@/lib/server/running";
import { parseEmbedPath } from "@/lib/shared/console-paths";

export async function proxy(request: NextRequest): Promise<NextResponse> {
  if (request.nextUrl.pathname.startsWith("/embed/")) return embedded(request);
  return shown(request, "'none'", (headers) => NextResponse.next({ request: { headers } }));
}

/** Without a configured host, or beyond its rights, Next answers 404 for the page. */
async function embedded(request: NextRequest): Promise<NextResponse> {
  const { pathname, searchParams } = request.nextUrl;
  const embed = parseEmbedPath(pathname);
  const hostId = embed?.host ?? searchParams.get("host");
  const host = hostId ? await getProcessState().composition?.store.embedHosts.get(hostId) : undefined;
  const own = embed && /^\/(start|doctor)$/.exec(embed.rest)?.[0];
  return shown(request, host ? host.origins.join(" ") : "'none'", (headers) => {
    if (!host || !embed || (!own && embed.rest !== "/choose" && !findEmbedPage(embed.rest)))
      return NextResponse.next({ request: { headers } });
    const target = request.nextUrl.clone();
    target.pathname = own ? `/embed${own}` : embed.rest || "/";
    const response = NextResponse.rewrite(target, { request: { headers } });
    if (own === "/start" || own === "/doctor")
      response.headers.append(
        "set-cookie",
        `${probeCookie(embed.slot, request.nextUrl)}=1; Max-Age=300; ${embedCookieAttributes(request.nextUrl)}`,
      );
    return response;
  });
}

function shown(request: NextRequest, ancestors: string, answer: (headers: Headers) => NextResponse): NextResponse {
  const { pathname, search } = request.nextUrl;
  const embed = parseEmbedPath(pathname);
  const nonce = btoa(crypto.randomUUID());
  const policy = contentPolicy(nonce, ancestors);
  const headers = new Headers(request.headers);
  headers.set("x-nonce", nonce);
  headers.set(PAGE_HEADER, (embed ? embed.rest || "/" : pathname) + search);
  headers.set("content-security-policy", policy);
  const response = answer(headers);
  response.headers.set("content-security-policy", policy);
  // Search engines must not index pages that a link alone opens.
  if (pathname.startsWith("/share/")) response.headers.set("x-robots-tag", "noindex, nofollow, noarchive");
  return response;
}

function contentPolicy(nonce: string, ancestors: string): string {
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'`,
    // Primitives and toasts write style elements at run time; what a style can do without a script is bounded by the other lines.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    // A worker has the policy of its own file (next.config.js): WebAssembly runs there and in no page.
    "worker-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${ancestors}`,
  ].join("; ");
}

export const config = {
  // Excludes files by folder. A URL that only ends like a file is a page.
  // The first page by itself: below a base path the other pattern does not have it.
  matcher: ["/", "/((?!api(?:/|$)|_next/static/|favicon\\.ico$|icon\\.svg$|embed(?:-worker)?\\.js$|embed\\.d\\.ts$|samples/).*)"],
};
