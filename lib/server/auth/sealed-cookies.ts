// Encrypted cookies: the browser's device, and the state of a sign-in at an OIDC provider.

import "server-only";
import { decode, encode } from "next-auth/jwt";
import { z } from "zod";
import { type Composition, type Parts } from "../composition-type";
import { cookieAttributes, cookieName, readCookie } from "../cookies";
import { type Member } from "../store/people/members";
import { type RequestHeaders } from "./session";

type Keys = Parts<"authSecret" | "env">;

function sealedCookie<T>(name: string, schema: z.ZodType<T>, seconds: number) {
  const write = ({ env }: Keys, value: string, lasts: number) => {
    return `${cookieName(name, env)}=${value}; ${cookieAttributes(env, lasts)}`;
  };
  return {
    async write(keys: Keys, value: T): Promise<string> {
      return write(keys, await encode({ token: { value }, secret: keys.authSecret, salt: name, maxAge: seconds }), seconds);
    },
    forget: (keys: Keys) => write(keys, "", 0),
    async read({ authSecret, env }: Keys, headers: RequestHeaders): Promise<T | undefined> {
      const token = readCookie(headers.get("cookie"), cookieName(name, env));
      if (!token) return undefined;
      try {
        return schema.safeParse((await decode({ token, secret: authSecret, salt: name }))?.value).data;
      } catch {
        return undefined; // An invalid cookie is not an error.
      }
    },
  };
}

const A_YEAR_SECONDS = 365 * 24 * 60 * 60;

const device = sealedCookie("lightdesk.device", z.object({ memberId: z.string(), version: z.number() }), A_YEAR_SECONDS);

export function deviceCookie(composition: Composition, { id, sessionVersion }: Member): Promise<string> {
  return device.write(composition, { memberId: id, version: sessionVersion });
}

export async function isDeviceOf(composition: Composition, headers: RequestHeaders, email: string): Promise<boolean> {
  const savedDevice = await device.read(composition, headers);
  const member = savedDevice && (await composition.store.members.getByEmail(email));
  return member !== undefined && member.id === savedDevice?.memberId && member.sessionVersion === savedDevice.version;
}

/** `confirm`: proves that the member is still at the keyboard. `link`: a member links this provider. `join`: accepts an invitation. */
const purposeSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("signIn") }),
  z.object({ kind: z.literal("confirm"), memberId: z.string() }),
  z.object({ kind: z.literal("link"), memberId: z.string() }),
  z.object({ kind: z.literal("join"), token: z.string() }),
]);
const signInStateSchema = z.object({
  provider: z.string(),
  state: z.string(),
  at: z.number(),
  returnTo: z.string(),
  purpose: purposeSchema,
});
export type Purpose = z.infer<typeof purposeSchema>;
export type SignInState = z.infer<typeof signInStateSchema>;

/** As long as next-auth keeps its own cookies of this kind. */
const ASKED_SECONDS = 15 * 60;

/**
 * False if a response with this state was used before: its URL stays in histories and logs, and a provider may accept its code again.
 * Stored for longer than the cookie is valid, for all consoles that share a database.
 */
export async function consumeState({ store, now }: Parts<"store" | "now">, state: string): Promise<boolean> {
  return (await store.attempts.take({ name: `oidc state ${state}`, burst: 1, refillMs: 2 * ASKED_SECONDS * 1000 }, now())) === 0;
}

export const signInCookie = sealedCookie("lightdesk.oidc", signInStateSchema, ASKED_SECONDS);
