// What a browser asked a provider for: kept in a sealed cookie until the browser comes back, and tied to the state of that request.
// Guarantees: a provider's response is valid only for the request with the same state, and once.

import "server-only";
import { z } from "zod";
import { composition } from "@/lib/server/composition";
import { sealedCookie } from "../sealed-cookie";

/** `confirm`: proves that the member is still at the keyboard. `link`: a member adds this way to sign in. `join`: accepts an invitation. */
const purposeSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("signIn") }),
  z.object({ kind: z.literal("confirm"), memberId: z.string() }),
  z.object({ kind: z.literal("link"), memberId: z.string() }),
  z.object({ kind: z.literal("join"), token: z.string() }),
]);
const askedSchema = z.object({ provider: z.string(), state: z.string(), at: z.number(), returnTo: z.string(), purpose: purposeSchema });
export type Purpose = z.infer<typeof purposeSchema>;
export type Asked = z.infer<typeof askedSchema>;

/** As long as next-auth keeps its own cookies of this kind. */
const ASKED_SECONDS = 15 * 60;

/**
 * False if a response with this state was used before: its URL stays in histories and logs, and a provider may accept its code again.
 * Stored for longer than the cookie is valid, for all consoles that share a database.
 */
export async function takeState(state: string): Promise<boolean> {
  const { store, now } = composition();
  return (await store.attempts.take({ name: `oidc state ${state}`, burst: 1, refillMs: 2 * ASKED_SECONDS * 1000 }, now())) === 0;
}

export const askedCookie = sealedCookie("lightdesk.oidc", askedSchema, ASKED_SECONDS);
