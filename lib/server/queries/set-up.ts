// Whether a set-up link can be used, checked before its form is filled in.
// Guarantees: looking at a link does not use it up; without the token, a caller learns only whether Lightdesk is set up, which the sign-in
// page shows anyway.

import "server-only";
import { composition } from "../composition";

export type SetUpState = "open" | "over" | "unknown" | "noToken";

export async function getSetUp(token: string | undefined): Promise<SetUpState> {
  const { store, ready } = composition();
  await ready;
  if (await store.members.hasOwner()) return "over";
  if (token === undefined) return "noToken";
  return (await store.setUpToken.has(token)) ? "open" : "unknown";
}
