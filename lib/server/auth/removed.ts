// People who were removed from the team: signing in does not make them members again until an admin invites them.
// Guarantees: the address is remembered in addition to their subjects at providers, so the removal holds for every way to sign in.

import "server-only";
import { composition } from "../composition";
import { type Identity } from "../store/people/identities";

/** Called when a member is removed. */
export async function keepRemoved(email: string): Promise<void> {
  const { store, now } = composition();
  await store.identities.keepRemoved(removed(email), now());
}

/** Called if no member has the address. */
export async function isRemoved(email: string): Promise<boolean> {
  const { issuer, subject } = removed(email);
  return (await composition().store.identities.find(issuer, subject)) !== undefined;
}

/** Stored under "proxy", the first kind of sign-in that needed it. */
function removed(email: string): Identity {
  return { issuer: "proxy", subject: email, provider: "proxy" };
}
