// next-auth's options and handler.

import "server-only";
import NextAuth, { type NextAuthOptions } from "next-auth";
import { type JWT } from "next-auth/jwt";
import credentials from "next-auth/providers/credentials";
import { decodePercent } from "@/lib/contract/plain-line";
import { type Composition, type Dependencies } from "../composition-type";
import { createNextAuthCookies, isHttps, readCookie } from "../cookies";
import { getConsolePath } from "../env";
import { ADDRESS_HEADER } from "../limits/attempt-limit";
import { type Member } from "../store/people/members";
import { type OidcSignIn, startProviderSession } from "./oidc/oidc-sign-in";
import { toClaims } from "./oidc/provider";
import { isKnownDevice } from "./sealed-cookies";
import { endSession, getSessionId, readSession, startSession } from "./session";
import { explainedFailures, signIn } from "./sign-in";

/** Prefix of an error message passed through next-auth. The route turns it into a 429 with Retry-After. */
export const RATE_LIMITED_PREFIX = "RATE_LIMITED_";

/** Reports to the audit log. `member` is set if the account belongs to a member. */
type AuthEvents = {
  onSuccess(action: "signIn" | "signOut", member: Member): void;
  onRejection(member: Member | undefined, address: string, code: string): void;
  /** A sign-out that could not be stored. next-auth would respond as if it had succeeded. */
  onSignOutError(error: unknown): void;
};

export function createAuthOptions(
  composition: Composition,
  { onSuccess, onRejection, onSignOutError }: AuthEvents,
  headers: Pick<Headers, "get">,
  oidcSignIn?: OidcSignIn,
): NextAuthOptions {
  const { env, store, authSecret, log } = composition;
  return {
    secret: authSecret,
    session: { strategy: "jwt", maxAge: env.session.maxMs / 1000 },
    jwt: { decode: (params) => readSession(composition, params) },
    // next-auth copies these URLs into redirects unchanged.
    pages: { signIn: getConsolePath(env, "/sign-in"), error: getConsolePath(env, "/sign-in") },
    useSecureCookies: isHttps(env.publicUrl),
    cookies: createNextAuthCookies(env),
    providers: [
      ...(oidcSignIn ? [oidcSignIn.config] : []),
      credentials({
        credentials: { email: {}, password: {} },
        async authorize(credentials) {
          const address = headers.get(ADDRESS_HEADER) ?? "unknown";
          const { email = "", password = "" } = credentials ?? {};
          const result = await signIn(composition, {
            email,
            password,
            address,
            isKnownDevice: await isKnownDevice(composition, headers, email),
          });
          if (result.ok) {
            onSuccess("signIn", result.value);
            return { id: result.value.id, name: result.value.name, email: result.value.email, version: result.value.sessionVersion };
          }
          // The entered email is not logged, because it may be a password typed into the wrong field. Rate-limited attempts are not reported.
          if (result.failure.code !== "RATE_LIMITED") {
            const { code } = result.failure;
            onRejection(await store.members.getByEmail(email), address, code);
            if (explainedFailures.includes(result.failure)) throw new Error(code);
            return null;
          }
          throw new Error(`${RATE_LIMITED_PREFIX}${Math.ceil((result.failure.retryAfterMs ?? 1000) / 1000)}`);
        },
      }),
    ],
    callbacks: {
      // The route replaces next-auth's response with the reason of a refusal.
      signIn: async ({ account, profile }) => account?.type !== "oauth" || (await oidcSignIn?.verify(toClaims(profile))) === true,
      async jwt({ token, user, account }) {
        if (!user) return { ...token, sid: getSessionId(token) };
        const admittedMember = oidcSignIn?.getAdmittedMember();
        if (!admittedMember || !account) {
          const version = "version" in user ? Number(user.version) : Number.NaN;
          const { id } = await startSession(composition, { memberId: user.id, version, method: "password" }, headers);
          return { ...token, sid: id };
        }
        const { id, name, email } = admittedMember.member;
        return { ...token, sub: id, name, email, sid: await startProviderSession(composition, admittedMember, account, headers) };
      },
      redirect: ({ baseUrl }) => baseUrl,
      session: ({ session, token }) => ({ expires: session.expires, user: { name: token.name, email: token.email } }),
    },
    events: {
      // The type declares `token` as always set, but it is null without a valid session.
      async signOut({ token }: { token?: JWT | null }) {
        if (!token) return;
        try {
          await endSession(composition, token);
        } catch (error) {
          return onSignOutError(error);
        }
        const member = token.sub === undefined ? undefined : await store.members.get(token.sub);
        if (member) onSuccess("signOut", member);
      },
    },
    logger: {
      // Not logged: anyone can send invalid session cookies.
      error: (code) => (code === "JWT_SESSION_ERROR" ? undefined : log.error({ code }, "next-auth error")),
      warn: (code) => log.warn({ code }, "next-auth warning"),
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
    query: { ...pickParams(search, providerParams), nextauth: provider === undefined ? [step] : [step, provider] },
    body: form && { ...pickParams(form, formFields), json: "true" },
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

function pickParams(params: URLSearchParams | undefined, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = params?.get(name);
      return value === null || value === undefined ? [] : [[name, value]];
    }),
  );
}

function readAuthCookies({ env }: Dependencies<"env">, headers: Pick<Headers, "get">): Record<string, string> {
  const { callbackUrl: _callbackUrl, ...cookies } = createNextAuthCookies(env);
  return Object.fromEntries(
    Object.values(cookies).flatMap(({ name }) => {
      const value = readCookie(headers.get("cookie"), name);
      return value === undefined ? [] : [[name, decodePercent(value) ?? value]];
    }),
  );
}
