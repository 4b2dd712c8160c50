// Before every page: the content policy with a nonce of its own, and the way to the sign-in for browsers without a session cookie.
// Must never: authorise anything (pages do), or see /api: a proxy in front of an upload cuts its body at 10 MB without a word.

import { type NextRequest, NextResponse } from "next/server";
import { PAGE_HEADER, VOUCHED_HEADER } from "@/lib/server/auth/page-header";
import { SESSION_COOKIES } from "@/lib/server/auth/session-cookie";

const openPages = /^\/(sign-in|set-up|invitation|share)(\/|$)/;

export function proxy(request: NextRequest): NextResponse {
  const { pathname, search } = request.nextUrl;
  const mayBeSignedIn = request.headers.has(VOUCHED_HEADER) || SESSION_COOKIES.some((name) => request.cookies.has(name));
  // Pages decide between set-up and sign-in; without a cookie there is nothing to decide but where to come back to.
  if (!mayBeSignedIn && !openPages.test(pathname) && pathname !== "/") {
    const target = request.nextUrl.clone();
    target.pathname = "/sign-in";
    target.search = `?callbackUrl=${encodeURIComponent(pathname + search)}`;
    return NextResponse.redirect(target);
  }
  const nonce = btoa(crypto.randomUUID());
  const policy = contentPolicy(nonce);
  const headers = new Headers(request.headers);
  headers.set("x-nonce", nonce);
  headers.set(PAGE_HEADER, pathname + search);
  headers.set("content-security-policy", policy);
  const response = NextResponse.next({ request: { headers } });
  response.headers.set("content-security-policy", policy);
  // What a link alone opens is kept by nobody, search engines least.
  if (pathname.startsWith("/share/")) response.headers.set("x-robots-tag", "noindex, nofollow, noarchive");
  return response;
}

function contentPolicy(nonce: string): string {
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'`,
    // Primitives and toasts write style elements at run time; what a style can do without a script is bounded by the other lines.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    // A worker has the policy that its own file comes with (next.config.js): WebAssembly runs there and in no page.
    "worker-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

export const config = {
  // What is excluded are files, by their places: an address that only ends like one is a page, and is not found on one.
  // The first page by itself: below a base path the other pattern does not have it.
  matcher: ["/", "/((?!api(?:/|$)|_next/static/|favicon\\.ico$|icon\\.svg$|samples/).*)"],
};
