// Plays a browser on the way to a provider and back: it keeps cookies and calls the console's own handlers.
import { join } from "node:path";
import { type NextAuthOptions } from "next-auth";
import { NextRequest } from "next/server";
import { authOptions } from "@/lib/server/auth/options";
import { type OidcTurn } from "@/lib/server/auth/oidc/turn";
import { unguarded } from "@/lib/server/bff/guard";
import { beginOidc, finishOidc, signOutEverywhere } from "@/lib/server/bff/oidc-route";
import { type Harness, HOST } from "./harness";
import { type TokenIssuer } from "./token-issuer";

type Cookie = { name: string; value: string };
type Answered = { redirect?: string; body?: unknown; cookies?: Cookie[] };
type Core = { AuthHandler(asked: { req: object; options: NextAuthOptions }): Promise<Answered> };
/** next-auth without Next around it: its handler for route files only accepts a request that Next opened. */
const core: Core = await import(join(process.cwd(), "node_modules/next-auth/core/index.js"));

/** Keeps cookies, and follows the console to the provider and back. */
export function oidcBrowser(harness: Harness, jar: Record<string, string> = {}) {
  const cookie = () =>
    Object.entries(jar)
      .map(([name, value]) => `${name}=${value}`)
      .join("; ");
  const take = (answer: Response) => {
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") delete jar[name];
      else jar[name] = value;
    }
    return answer;
  };
  async function ask(method: string, path: string, fields?: Record<string, string>): Promise<Response> {
    const [, , , action = "", id] = path.split("?")[0]?.split("/") ?? [];
    const headers = { host: HOST, origin: `http://${HOST}`, cookie: cookie(), "x-lightdesk-address": "198.51.100.9" };
    const request = new NextRequest(`http://${HOST}${path}`, { method, headers, ...(fields && { body: new URLSearchParams(fields) }) });
    const handler = unguarded("auth", async (opened) => {
      const events = { changed: () => undefined, refused: () => undefined, failed: () => undefined };
      const run = async (asked: Request, turn?: OidcTurn) => {
        const query = Object.fromEntries(new URL(asked.url).searchParams);
        const body = method === "POST" ? Object.fromEntries(new URLSearchParams(await asked.text())) : {};
        const req = { method, action, providerId: id, cookies: { ...jar }, body, query, headers: {}, origin: `http://${HOST}` };
        return toResponse(await core.AuthHandler({ req, options: authOptions(events, request.headers, turn) }));
      };
      if (action === "signout") return { ok: true, value: await signOutEverywhere(request, () => run(request)) };
      const provider = opened.console.env.oidc.find((one) => one.id === id);
      if (!provider) return { ok: true, value: await run(request) };
      return method === "POST" ? beginOidc(provider, request, run) : finishOidc(provider, opened, run);
    });
    return take(await handler(request, { params: Promise.resolve({}) }));
  }
  async function csrf(): Promise<string> {
    const { csrfToken }: { csrfToken: string } = await (await ask("GET", "/api/auth/csrf")).json();
    return csrfToken;
  }
  return {
    jar,
    ask,
    async begin(id: string, more: Record<string, string> = {}): Promise<string> {
      const fields = { csrfToken: await csrf(), json: "true", callbackUrl: "/jobs", ...more };
      const { url }: { url: string } = await (await ask("POST", `/api/auth/signin/${id}`, fields)).json();
      return url;
    },
    async finish(id: string, query: Record<string, string>) {
      const answer = await ask("GET", `/api/auth/callback/${id}?${new URLSearchParams(query).toString()}`);
      return whereTo(answer.headers.get("location") ?? "");
    },
    async signIn(id: string, issuer: TokenIssuer, more?: Record<string, string>) {
      return this.finish(id, issuer.visit(await this.begin(id, more)));
    },
    async signOut(): Promise<string> {
      const { url }: { url: string } = await (await ask("POST", "/api/auth/signout", { csrfToken: await csrf(), json: "true" })).json();
      return url;
    },
    me: async () =>
      (await harness.request("/api/console/account", { cookie: cookie() })).json() as Promise<{ member?: { email: string; role: string } }>,
  };
}

/** For a refusal its name, for a page its path. */
function whereTo(location: string): string {
  const { pathname, searchParams } = new URL(location, `http://${HOST}`);
  return searchParams.get("refused") ?? pathname;
}

function toResponse({ redirect, body, cookies = [] }: Answered): Response {
  const headers = new Headers(redirect === undefined ? {} : { location: redirect });
  for (const { name, value } of cookies) headers.append("set-cookie", `${name}=${value}`);
  return Response.json(redirect === undefined ? body : { url: redirect }, { headers });
}
