// Adds a content security policy with a nonce to every page. Only the host's origins may frame the pages of an embedded session.
// Must never authorize requests (pages do) or match /api, because Next truncates bodies here at 10 MB.

import { type NextRequest, NextResponse } from "next/server";
import { findEmbedPage } from "@/lib/contract/embed/embed-pages";
import { formatEmbedCookieAttributes, getProbeCookieName, PAGE_HEADER } from "@/lib/server/cookies";
import { getProcessState } from "@/lib/server/process-state";
import { parseEmbedPath } from "@/lib/shared/console-paths";

export async function proxy(request: NextRequest): Promise<NextResponse> {
  if (request.nextUrl.pathname.startsWith("/embed/")) return respondToEmbedded(request);
  return addContentSecurityPolicy(request, "'none'", (headers) => NextResponse.next({ request: { headers } }));
}

/** Next responds with 404 if the host is unknown or the page is not embeddable. */
async function respondToEmbedded(request: NextRequest): Promise<NextResponse> {
  const { pathname, searchParams } = request.nextUrl;
  const embed = parseEmbedPath(pathname);
  const hostId = embed?.host ?? searchParams.get("host");
  const host = hostId ? await getProcessState().composition?.store.embedHosts.get(hostId) : undefined;
  const embedOnlyPath = embed && /^\/(start|doctor)$/.exec(embed.innerUrl)?.[0];
  return addContentSecurityPolicy(request, host ? host.origins.join(" ") : "'none'", (headers) => {
    if (!host || !embed || (!embedOnlyPath && embed.innerUrl !== "/choose" && !findEmbedPage(embed.innerUrl)))
      return NextResponse.next({ request: { headers } });
    const target = request.nextUrl.clone();
    target.pathname = embedOnlyPath ? `/embed${embedOnlyPath}` : embed.innerUrl || "/";
    const response = NextResponse.rewrite(target, { request: { headers } });
    if (embedOnlyPath === "/start" || embedOnlyPath === "/doctor")
      response.headers.append(
        "set-cookie",
        `${getProbeCookieName(embed.slot, request.nextUrl)}=1; Max-Age=300; ${formatEmbedCookieAttributes(request.nextUrl)}`,
      );
    return response;
  });
}

function addContentSecurityPolicy(request: NextRequest, ancestors: string, respond: (headers: Headers) => NextResponse): NextResponse {
  const { pathname, search } = request.nextUrl;
  const embed = parseEmbedPath(pathname);
  const nonce = btoa(crypto.randomUUID());
  const policy = createContentPolicy(nonce, ancestors);
  const headers = new Headers(request.headers);
  headers.set("x-nonce", nonce);
  headers.set(PAGE_HEADER, (embed ? embed.innerUrl || "/" : pathname) + search);
  headers.set("content-security-policy", policy);
  const response = respond(headers);
  response.headers.set("content-security-policy", policy);
  // Search engines must not index shares.
  if (pathname.startsWith("/share/")) response.headers.set("x-robots-tag", "noindex, nofollow, noarchive");
  return response;
}

function createContentPolicy(nonce: string, ancestors: string): string {
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'`,
    // Primitives and toasts add style elements at run time. The other directives limit what a style can load.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    // Workers have their own policy (next.config.js), which allows WebAssembly.
    "worker-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${ancestors}`,
  ].join("; ");
}

export const config = {
  // Excludes files by folder, because a page's URL may end like a file name. With a base path, the second pattern misses the root page.
  matcher: ["/", "/((?!api(?:/|$)|_next/static/|favicon\\.ico$|icon\\.svg$|embed(?:-worker)?\\.js$|embed\\.d\\.ts$|samples/).*)"],
};
