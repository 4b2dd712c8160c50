// next-auth's options and handler.

import "server-only";
import NextAuth, { type NextAuthOptions } from "next-auth";
import { type JWT } from "next-auth/jwt";
import credentials from "next-auth/providers/credentials";
import { decodePercent } from "@/lib/contract/plain-line";
import { type Composition, type Dependencies } from "../composition-type";
import { isSecure, nextAuthCookies, readCookie } from "../cookies";
import { consolePath } from "../env";
import { ADDRESS_HEADER } from "../limits/attempt-limit";
import { type Member } from "../store/people/members";
import { beginProviderSession, type OidcTurn } from "./oidc/oidc-turn";
import { toClaims } from "./oidc/provider";
import { isKnownDevice } from "./sealed-cookies";
import { beginSession, endSession, getSessionId, readSession } from "./session";
import { explainedFailures, signIn } from "./sign-in";

/** Prefix of an error text that passes through next-auth; the route turns it into a 429 with Retry-After. */
export const RATE_LIMITED_PREFIX = "RATE_LIMITED_";

/** Reports to the audit log. `member` is set if the account belongs to a member. */
type AuthEvents = {
  changed(action: "signIn" | "signOut", member: Member): void;
  refused(member: Member | undefined, address: string, code: string): void;
  /** A sign-out that could not be stored. next-auth would respond as if it had succeeded. */
  failed(error: unknown): void;
};

export function authOptions(
  composition: Composition,
  { changed, refused, failed }: AuthEvents,
  headers: Pick<Headers, "get">,
  turn?: OidcTurn,
): NextAuthOptions {
  const { env, store, authSecret, log } = composition;
  return {
    secret: authSecret,
    session: { strategy: "jwt", maxAge: env.session.longestMs / 1000 },
    jwt: { decode: (params) => readSession(composition, params) },
    // next-auth copies these URLs into redirects unchanged.
    pages: { signIn: consolePath(env, "/sign-in"), error: consolePath(env, "/sign-in") },
    useSecureCookies: isSecure(env.publicUrl),
    cookies: nextAuthCookies(env),
    providers: [
      ...(turn ? [turn.config] : []),
      credentials({
        credentials: { email: {}, password: {} },
        async authorize(credentials) {
          const address = headers.get(ADDRESS_HEADER) ?? "unknown";
          const { email = "", password = "" } = credentials ?? {};
          const result = await signIn(composition, { email, password, address, isKnown: await isKnownDevice(composition, headers, email) });
          if (result.ok) {
            changed("signIn", result.value);
            return { id: result.value.id, name: result.value.name, email: result.value.email, version: result.value.sessionVersion };
          }
          // The attempted address is not logged, because people type passwords into the wrong field. Attempts beyond the limit are not tried.
          if (result.failure.code !== "RATE_LIMITED") {
            const { code } = result.failure;
            refused(await store.members.getByEmail(email), address, code);
            if (explainedFailures.includes(result.failure)) throw new Error(code);
            return null;
          }
          throw new Error(`${RATE_LIMITED_PREFIX}${Math.ceil((result.failure.retryAfterMs ?? 1000) / 1000)}`);
        },
      }),
    ],
    callbacks: {
      // The route replaces next-auth's response with the reason of a refusal.
      signIn: async ({ account, profile }) => account?.type !== "oauth" || (await turn?.verify(toClaims(profile))) === true,
      async jwt({ token, user, account }) {
        if (!user) return { ...token, sid: getSessionId(token) };
        const admitted = turn?.admitted();
        if (!admitted || !account) {
          const version = "version" in user ? Number(user.version) : Number.NaN;
          const { id } = await beginSession(composition, { memberId: user.id, version, method: "password" }, headers);
          return { ...token, sid: id };
        }
        const { id, name, email } = admitted.member;
        return { ...token, sub: id, name, email, sid: await beginProviderSession(composition, admitted, account, headers) };
      },
      redirect: ({ baseUrl }) => baseUrl,
      session: ({ session, token }) => ({ expires: session.expires, user: { name: token.name, email: token.email } }),
    },
    events: {
      // The type says it is always set, but it is null without a valid session.
      async signOut({ token }: { token?: JWT | null }) {
        if (!token) return;
        try {
          await endSession(composition, token);
        } catch (error) {
          return failed(error);
        }
        const member = token.sub === undefined ? undefined : await store.members.get(token.sub);
        if (member) changed("signOut", member);
      },
    },
    logger: {
      // Not logged: anyone can send invalid session cookies.
      error: (code) => (code === "JWT_SESSION_ERROR" ? undefined : log.error({ code }, "next-auth")),
      warn: (code) => log.warn({ code }, "next-auth"),
      debug: () => undefined,
    },
  };
}

export type AuthStep = "csrf" | "session" | "providers" | "signin" | "callback" | "signout";
/** `headers` contains the cookies to set; `url` is where next-auth would redirect to. */
export type NextAuthResponse = { status: number; headers: Headers; url?: string; body?: unknown };

type NextAuthRequest = {
  step: AuthStep;
  provider?: string;
  headers: Pick<Headers, "get">;
  form?: URLSearchParams;
  search?: URLSearchParams;
};

const providerParams = ["code", "state", "iss", "error", "error_description", "session_state"];
const formFields = ["csrfToken", "email", "password"];

export async function callNextAuth(
  composition: Composition,
  { step, provider, headers, form, search }: NextAuthRequest,
  options: NextAuthOptions,
): Promise<NextAuthResponse> {
  const result: NextAuthResponse = { status: 200, headers: new Headers() };
  const request = {
    method: form ? "POST" : "GET",
    query: { ...pick(search, providerParams), nextauth: provider === undefined ? [step] : [step, provider] },
    body: form && { ...pick(form, formFields), json: "true" },
    cookies: readAuthCookies(composition, headers),
    headers: {},
  };
  const response = {
    status(status: number) {
      result.status = status;
      return response;
    },
    getHeader: () => undefined,
    setHeader(name: string, value: unknown) {
      if (name === "Set-Cookie" && Array.isArray(value)) for (const line of value) result.headers.append("set-cookie", String(line));
      else if (name === "Location") result.url = String(value);
      return response;
    },
    json(body: { url?: string }) {
      result.url = body.url;
    },
    send(body: unknown) {
      result.body = body;
    },
    end: () => undefined,
  };
  const handle: (request: object, response: object) => Promise<void> = NextAuth(options);
  await handle(request, response);
  return result;
}

function pick(from: URLSearchParams | undefined, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = from?.get(name);
      return value === null || value === undefined ? [] : [[name, value]];
    }),
  );
}

function readAuthCookies({ env }: Dependencies<"env">, headers: Pick<Headers, "get">): Record<string, string> {
  const { callbackUrl: _unused, ...cookies } = nextAuthCookies(env);
  return Object.fromEntries(
    Object.values(cookies).flatMap(({ name }) => {
      const value = readCookie(headers.get("cookie"), name);
      return value === undefined ? [] : [[name, decodePercent(value) ?? value]];
    }),
  );
}
