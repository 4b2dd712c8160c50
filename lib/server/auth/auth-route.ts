// next-auth behind our own guard: its answers get our headers, and a refusal for too many attempts its status and Retry-After.
// Must never: let an error of next-auth's say more than its code.

import "server-only";
import NextAuth from "next-auth";
import { ok } from "@/lib/shared/result";
import { type Handler, type RouteContext, unguarded } from "../bff/guard";
import { authOptions, RATE_LIMITED_PREFIX } from "./options";
import { toViewer } from "./viewer";

export function authRoute(): Handler {
  return unguarded("auth", async ({ request, params, note }) => {
    // Made anew for each request: the options read the composition, which does not exist at import.
    const handle: (request: Request, context: RouteContext) => Promise<Response> = NextAuth(
      authOptions((action, member) => note({ action, viewer: toViewer(member) })),
    );
    return ok(await withRateLimit(await handle(request, { params: Promise.resolve(params) })));
  });
}

async function withRateLimit(answer: Response): Promise<Response> {
  if (answer.status !== 401) return answer;
  const text = await answer.text();
  const seconds = text.match(new RegExp(`${RATE_LIMITED_PREFIX}(\\d{1,6})`))?.[1];
  if (seconds === undefined) return new Response(text, answer);
  const headers = new Headers(answer.headers);
  headers.set("retry-after", seconds);
  // next-auth's client reads the error from the address in the body.
  const body = text.replaceAll(`${RATE_LIMITED_PREFIX}${seconds}`, "RATE_LIMITED");
  return new Response(body, { status: 429, headers });
}
