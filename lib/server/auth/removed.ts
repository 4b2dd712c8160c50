// People who were removed from the team: signing in does not make them members again until an admin invites them.
// Guarantees: the address is remembered in addition to their subjects at providers, so the removal holds for every way to sign in.

import "server-only";
import { type Parts } from "../composition-type";
import { type Identity } from "../store/people/identities";

/** Called when a member is removed. */
export async function keepRemoved({ store, now }: Parts<"store" | "now">, email: string): Promise<void> {
  await store.identities.keepRemoved(removed(email), now());
}

/** Called if no member has the address. */
export async function isRemoved({ store }: Parts<"store">, email: string): Promise<boolean> {
  const { issuer, subject } = removed(email);
  return (await store.identities.find(issuer, subject)) !== undefined;
}

/** Stored under "proxy", the first kind of sign-in that needed it. */
function removed(email: string): Identity {
  return { issuer: "proxy", subject: email, provider: "proxy" };
}
