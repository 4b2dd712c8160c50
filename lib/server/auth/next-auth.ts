// next-auth's options and handler.

import "server-only";
import NextAuth, { type NextAuthOptions } from "next-auth";
import { type JWT } from "next-auth/jwt";
import credentials from "next-auth/providers/credentials";
import { type Failure } from "@/lib/contract/failure";
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
import { signIn } from "./sign-in";

type AuthEvents = {
  onSuccess(action: "signIn" | "signOut", member: Member): void;
  /** `member` is set if the account belongs to a member. */
  onRejection(failure: Failure, address: string, member: Member | undefined): void;
  /** Receives an error thrown by a callback, such as an unreachable store. next-auth would report a wrong password or an ended session. */
  onError(error: unknown): void;
};

export function createAuthOptions(
  composition: Composition,
  { onSuccess, onRejection, onError }: AuthEvents,
  headers: Pick<Headers, "get">,
  oidcSignIn?: OidcSignIn,
): NextAuthOptions {
  const { env, store, authSecret, log } = composition;
  const reportErrors =
    <Params extends unknown[], T>(run: (...params: Params) => Promise<T>) =>
    async (...params: Params): Promise<T> => {
      try {
        return await run(...params);
      } catch (error) {
        onError(error);
        throw error;
      }
    };
  return {
    secret: authSecret,
    session: { strategy: "jwt", maxAge: env.session.maxMs / 1000 },
    jwt: { decode: reportErrors((params) => readSession(composition, params)) },
    // next-auth copies these URLs into redirects unchanged.
    pages: { signIn: getConsolePath(env, "/sign-in"), error: getConsolePath(env, "/sign-in") },
    useSecureCookies: isHttps(env.publicUrl),
    cookies: createNextAuthCookies(env),
    providers: [
      ...(oidcSignIn ? [oidcSignIn.config] : []),
      credentials({
        credentials: { email: {}, password: {} },
        authorize: reportErrors(async (credentials) => {
          const address = headers.get(ADDRESS_HEADER) ?? "unknown";
          const { email = "", password = "" } = credentials ?? {};
          const result = await signIn(composition, {
            email,
            password,
            address,
            isKnownDevice: await isKnownDevice(composition, headers, email),
          });
          if (!result.ok) {
            const { failure } = result;
            onRejection(failure, address, failure.code === "RATE_LIMITED" ? undefined : await store.members.getByEmail(email));
            return null;
          }
          onSuccess("signIn", result.value);
          return { id: result.value.id, name: result.value.name, email: result.value.email, version: result.value.sessionVersion };
        }),
      }),
    ],
    callbacks: {
      // The route replaces next-auth's response with the reason of a refusal.
      signIn: reportErrors(
        async ({ account, profile }) => account?.type !== "oauth" || (await oidcSignIn?.verify(toClaims(profile))) === true,
      ),
      jwt: reportErrors(async ({ token, user, account }) => {
        if (!user) return { ...token, sid: getSessionId(token) };
        const admittedMember = oidcSignIn?.getAdmittedMember();
        if (!admittedMember || !account) {
          const version = "version" in user ? Number(user.version) : Number.NaN;
          const { id } = await startSession(composition, { memberId: user.id, version, method: "password" }, headers);
          return { ...token, sid: id };
        }
        const { id, name, email } = admittedMember.member;
        return { ...token, sub: id, name, email, sid: await startProviderSession(composition, admittedMember, account, headers) };
      }),
      redirect: ({ baseUrl }) => baseUrl,
      session: ({ session, token }) => ({ expires: session.expires, user: { name: token.name, email: token.email } }),
    },
    events: {
      // The type declares `token` as always set, but it is null without a valid session.
      signOut: reportErrors(async ({ token }: { token?: JWT | null }) => {
        if (!token) return;
        await endSession(composition, token);
        const member = token.sub === undefined ? undefined : await store.members.get(token.sub);
        if (member) onSuccess("signOut", member);
      }),
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
