// next-auth's options: credentials, sessions as encrypted JWTs that name a member and a session version, nothing more.
// Guarantees: what the browser can read of a session is a name and an address; keys and roles stay on the server.

import "server-only";
import { type NextAuthOptions } from "next-auth";
import credentials from "next-auth/providers/credentials";
import { composition } from "../composition";
import { ADDRESS_HEADER } from "../bff/client-address";
import { isSecure, SESSION_SECONDS, sessionCookieName } from "./session-cookie";
import { signIn } from "./sign-in";

/** Travels through next-auth as an error's text; the route turns it into 429 and Retry-After. */
export const RATE_LIMITED_PREFIX = "RATE_LIMITED_";

export function authOptions(): NextAuthOptions {
  const { env, authSecret, log } = composition();
  const secure = isSecure(env.publicUrl);
  return {
    secret: authSecret,
    session: { strategy: "jwt", maxAge: SESSION_SECONDS },
    pages: { signIn: "/sign-in", error: "/sign-in" },
    useSecureCookies: secure,
    cookies: { sessionToken: { name: sessionCookieName(env.publicUrl), options: { httpOnly: true, sameSite: "lax", path: "/", secure } } },
    providers: [
      credentials({
        credentials: { email: {}, password: {} },
        async authorize(given, request) {
          const address = request.headers?.[ADDRESS_HEADER];
          const result = await signIn({
            email: given?.email ?? "",
            password: given?.password ?? "",
            address: typeof address === "string" ? address : "unknown",
          });
          if (result.ok)
            return { id: result.value.id, name: result.value.name, email: result.value.email, version: result.value.sessionVersion };
          if (result.failure.code !== "RATE_LIMITED") return null;
          throw new Error(`${RATE_LIMITED_PREFIX}${Math.ceil((result.failure.retryAfterMs ?? 1000) / 1000)}`);
        },
      }),
    ],
    callbacks: {
      jwt: ({ token, user }) => (user && "version" in user ? { ...token, version: user.version } : token),
      session: ({ session, token }) => ({ expires: session.expires, user: { name: token.name, email: token.email } }),
    },
    logger: {
      error: (code) => log.error({ code }, "next-auth"),
      warn: (code) => log.warn({ code }, "next-auth"),
      debug: () => undefined,
    },
  };
}
