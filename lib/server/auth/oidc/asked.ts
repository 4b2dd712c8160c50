// What a browser asked a provider for, kept by that browser in a sealed cookie until it comes back, and tied to the state of that one request.
// Guarantees: an answer of the provider counts for what was asked with its state, and for nothing else.

import "server-only";
import { decode, encode } from "next-auth/jwt";
import { z } from "zod";
import { composition } from "@/lib/server/composition";
import { readCookie } from "@/lib/server/read-cookie";
import { cookieAttributes, cookieName } from "../session-cookie";

/** `confirm`: it is still the member at the keyboard. `link`: a member adds this way of signing in. `join`: with an invitation. */
const purposeSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("signIn") }),
  z.object({ kind: z.literal("confirm"), memberId: z.string() }),
  z.object({ kind: z.literal("link"), memberId: z.string() }),
  z.object({ kind: z.literal("join"), token: z.string() }),
]);
const askedSchema = z.object({ provider: z.string(), state: z.string(), at: z.number(), returnTo: z.string(), purpose: purposeSchema });
export type Purpose = z.infer<typeof purposeSchema>;
export type Asked = z.infer<typeof askedSchema>;

/** As long as next-auth keeps its own of these. */
const ASKED_SECONDS = 15 * 60;
const SALT = "lightdesk.oidc";

export async function askedCookie(asked: Asked): Promise<string> {
  const { authSecret } = composition();
  const value = await encode({ token: { asked }, secret: authSecret, salt: SALT, maxAge: ASKED_SECONDS });
  return writeCookie(value, ASKED_SECONDS);
}

export function forgottenCookie(): string {
  return writeCookie("", 0);
}

export async function readAsked(sent: Pick<Headers, "get">): Promise<Asked | undefined> {
  const { authSecret } = composition();
  const token = readCookie(sent.get("cookie") ?? "", cookieName(SALT, composition().env));
  if (!token) return undefined;
  try {
    return askedSchema.safeParse((await decode({ token, secret: authSecret, salt: SALT }))?.asked).data;
  } catch {
    return undefined; // made with another secret, changed, or too old: a visitor's, not a fault
  }
}

function writeCookie(value: string, seconds: number): string {
  const { env } = composition();
  return `${cookieName(SALT, env)}=${value}; ${cookieAttributes(env, seconds)}`;
}
