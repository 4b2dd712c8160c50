// next-auth's options: credentials, and sessions as encrypted JWTs that only name a session.
// Guarantees: the browser can read only a name and an address of a session; keys and roles stay on the server.

import "server-only";
import { type NextAuthOptions } from "next-auth";
import { type JWT } from "next-auth/jwt";
import credentials from "next-auth/providers/credentials";
import { composition } from "../composition";
import { ADDRESS_HEADER } from "../limits/client-address";
import { type Member } from "../store/people/members";
import { isDeviceOf } from "./device-cookie";
import { toClaims } from "./oidc/provider";
import { beginProviderSession } from "./oidc/provider-session";
import { type OidcTurn } from "./oidc/turn";
import { beginSession, endSession, readSession, sessionIdOf } from "./session";
import { isSecure, nextAuthCookies } from "./session-cookie";
import { explainedRefusals, signIn } from "./sign-in";

/** Passed through next-auth as an error text; the route turns it into 429 and Retry-After. */
export const RATE_LIMITED_PREFIX = "RATE_LIMITED_";

/** For the audit log: a sign-in, a sign-out or an attempt; `member` is set if the account belongs to a member. */
export type AuthEvents = {
  changed(action: "signIn" | "signOut", member: Member): void;
  refused(member: Member | undefined, address: string, code: string): void;
  /** A sign-out that could not be stored; next-auth would still answer as if it had worked. */
  failed(error: unknown): void;
};

/** `sent`: the headers of the request. `turn`: set if the request involves a provider. */
export function authOptions({ changed, refused, failed }: AuthEvents, sent: Pick<Headers, "get">, turn?: OidcTurn): NextAuthOptions {
  const { env, store, authSecret, log } = composition();
  return {
    secret: authSecret,
    session: { strategy: "jwt", maxAge: env.session.longestMs / 1000 },
    jwt: { decode: readSession },
    // next-auth writes these addresses into redirects unchanged.
    pages: { signIn: `${env.basePath}/sign-in`, error: `${env.basePath}/sign-in` },
    useSecureCookies: isSecure(env.publicUrl),
    cookies: nextAuthCookies(env),
    providers: [
      ...(turn ? [turn.config] : []),
      credentials({
        credentials: { email: {}, password: {} },
        async authorize(given) {
          const address = sent.get(ADDRESS_HEADER) ?? "unknown";
          const { email = "", password = "" } = given ?? {};
          const result = await signIn({ email, password, address, isKnown: await isDeviceOf(sent, email) });
          if (result.ok) {
            changed("signIn", result.value);
            return { id: result.value.id, name: result.value.name, email: result.value.email, version: result.value.sessionVersion };
          }
          // The attempted address is not logged: people type passwords into the wrong field. Attempts
          // beyond the limit are not tried at all.
          if (result.failure.code !== "RATE_LIMITED") {
            const { code } = result.failure;
            refused(await store.members.getByEmail(email), address, code);
            if (explainedRefusals.includes(result.failure)) throw new Error(code);
            return null;
          }
          throw new Error(`${RATE_LIMITED_PREFIX}${Math.ceil((result.failure.retryAfterMs ?? 1000) / 1000)}`);
        },
      }),
    ],
    callbacks: {
      // The route knows the reason of a refusal and sends its own answer instead of next-auth's.
      signIn: async ({ account, profile }) => account?.type !== "oauth" || (await turn?.judge(toClaims(profile))) === true,
      async jwt({ token, user, account }) {
        if (!user) return { ...token, sid: sessionIdOf(token) };
        const admitted = turn?.admitted();
        if (!admitted || !account) {
          const version = "version" in user ? Number(user.version) : Number.NaN;
          const { id } = await beginSession({ memberId: user.id, version, method: "password" }, sent);
          return { ...token, sid: id };
        }
        const { id, name, email } = admitted.member;
        return { ...token, sub: id, name, email, sid: await beginProviderSession(admitted, account, sent) };
      },
      // The routes decide redirects.
      redirect: ({ baseUrl }) => baseUrl,
      session: ({ session, token }) => ({ expires: session.expires, user: { name: token.name, email: token.email } }),
    },
    events: {
      // The type says it is always set, but it is null without a valid session.
      async signOut({ token }: { token?: JWT | null }) {
        if (!token) return;
        try {
          await endSession(token);
        } catch (error) {
          return failed(error);
        }
        const member = token.sub === undefined ? undefined : await store.members.get(token.sub);
        if (member) changed("signOut", member);
      },
    },
    logger: {
      // A visitor can send an invalid session cookie any number of times.
      error: (code) => (code === "JWT_SESSION_ERROR" ? undefined : log.error({ code }, "next-auth")),
      warn: (code) => log.warn({ code }, "next-auth"),
      debug: () => undefined,
    },
  };
}
