// What a set-up link is good for, before anybody fills in its form.
// Guarantees: looking at a link does not use it up; whoever lacks the token learns only whether Lightdesk is set up, which the sign-in tells anyway.

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
