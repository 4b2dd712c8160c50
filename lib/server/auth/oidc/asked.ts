// What a browser asked a provider for: kept in a sealed cookie until the browser comes back, and tied to the state of that request.
// Guarantees: a provider's answer counts only for what was asked with its state.

import "server-only";
import { z } from "zod";
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

export const askedCookie = sealedCookie("lightdesk.oidc", askedSchema, ASKED_SECONDS);
