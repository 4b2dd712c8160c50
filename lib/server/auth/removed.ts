// People who were removed from the team: signing in does not make them members again until an admin invites them.
// Guarantees: the address stays known beside the subjects at providers, so that removing holds whichever way they come.

import "server-only";
import { composition } from "../composition";
import { type Identity } from "../store/people/identities";

/** Of a member at the moment of the removal. */
export async function keepRemoved(email: string): Promise<void> {
  const { store, now } = composition();
  await store.identities.keepRemoved(removed(email), now());
}

/** Asked where no member has the address. */
export async function isRemoved(email: string): Promise<boolean> {
  const { issuer, subject } = removed(email);
  return (await composition().store.identities.find(issuer, subject)) !== undefined;
}

/** Named after the first way in that asked for it. */
function removed(email: string): Identity {
  return { issuer: "proxy", subject: email, provider: "proxy" };
}
