// Encrypted cookies: the browser's device, and the state of a sign-in at an OIDC provider.

import "server-only";
import { decode, encode } from "next-auth/jwt";
import { z } from "zod";
import { type Composition, type Dependencies } from "../composition-type";
import { formatCookieAttributes, getCookieName, readCookie, SIGN_IN_TTL_SECONDS } from "../cookies";
import { type Member } from "../store/people/members";
import { type RequestHeaders } from "./session";

type CookieDependencies = Dependencies<"authSecret" | "env">;

function createSealedCookie<T>(name: string, schema: z.ZodType<T>, seconds: number) {
  const formatCookie = ({ env }: CookieDependencies, value: string, maxAgeSeconds: number) => {
    return `${getCookieName(name, env)}=${value}; ${formatCookieAttributes(env, maxAgeSeconds)}`;
  };
  return {
    async write(dependencies: CookieDependencies, value: T): Promise<string> {
      const sealedValue = await encode({ token: { value }, secret: dependencies.authSecret, salt: name, maxAge: seconds });
      return formatCookie(dependencies, sealedValue, seconds);
    },
    clear: (dependencies: CookieDependencies) => formatCookie(dependencies, "", 0),
    async read({ authSecret, env }: CookieDependencies, headers: RequestHeaders): Promise<T | undefined> {
      const token = readCookie(headers.get("cookie"), getCookieName(name, env));
      if (!token) return undefined;
      try {
        return schema.safeParse((await decode({ token, secret: authSecret, salt: name }))?.value).data;
      } catch {
        return undefined; // An invalid cookie is not an error.
      }
    },
  };
}

const YEAR_SECONDS = 365 * 24 * 60 * 60;

const deviceCookie = createSealedCookie("lightdesk.device", z.object({ memberId: z.string(), version: z.number() }), YEAR_SECONDS);

export function createDeviceCookie(composition: Composition, { id, sessionVersion }: Member): Promise<string> {
  return deviceCookie.write(composition, { memberId: id, version: sessionVersion });
}

export async function isKnownDevice(composition: Composition, headers: RequestHeaders, email: string): Promise<boolean> {
  const savedDevice = await deviceCookie.read(composition, headers);
  const member = savedDevice && (await composition.store.members.getByEmail(email));
  return member !== undefined && member.id === savedDevice?.memberId && member.sessionVersion === savedDevice.version;
}

/** `confirm`: the member confirms their identity. `link`: a member links this provider. `join`: accepts an invitation. */
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

/**
 * Returns false if a response with this state was used before. Its URL remains in histories and logs, and a provider may accept its
 * code again. Used states are stored in the database for longer than the cookie is valid.
 */
export async function consumeState({ store, now }: Dependencies<"store" | "now">, state: string): Promise<boolean> {
  return (await store.attempts.consume({ name: `oidc state ${state}`, burst: 1, refillMs: 2 * SIGN_IN_TTL_SECONDS * 1000 }, now())) === 0;
}

export const signInCookie = createSealedCookie("lightdesk.oidc", signInStateSchema, SIGN_IN_TTL_SECONDS);
