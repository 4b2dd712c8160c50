// Tells the owner of a job where a key or a token was masked in it, in the console's own field `held_secrets`.
// Guarantees: the owner is the member who submitted the job here; for a job from elsewhere, any member who may submit. All others see only
// the masks.
// Must never: get an unmasked value, or pass on a field of this name that the service sent.

import "server-only";
import { isObject, textOf } from "@/lib/contract/json/json";
import { type Operation } from "@/lib/contract/operation";
import { hasRole, type Role } from "@/lib/contract/people/roles";
import { placesInJob, placesInWorkflow, type SecretPlace } from "@/lib/contract/secrets/secret-places";
import { composition } from "../composition";

type Asker = { memberId: string; role: Role };
/** `sent`: the submitted body, masked. `digested`: the places in a large answer, found in the thread that read it. */
type Found = { sent?: unknown; digested?: readonly SecretPlace[] };

export async function withSecretPlaces<T>(operation: Operation, connectionId: string, value: T, asker: Asker, found: Found): Promise<T>;
export async function withSecretPlaces(
  { tells }: Operation,
  connectionId: string,
  value: unknown,
  asker: Asker,
  { sent, digested }: Found,
): Promise<unknown> {
  if ((tells !== "job" && tells !== "submission") || !isObject(value)) return value;
  const places = tells === "submission" ? placesInWorkflow(sent) : (digested ?? placesInJob(value));
  const isShown = places.length > 0 && (tells === "submission" || (await isOwner(connectionId, value.id, asker)));
  // Adds the field only if there are places to tell, and removes one that the service sent under this name.
  if (!isShown && !("held_secrets" in value)) return value;
  return { ...value, held_secrets: isShown ? places : undefined };
}

async function isOwner(connectionId: string, id: unknown, { memberId, role }: Asker): Promise<boolean> {
  const target = textOf(id);
  if (target === undefined) return false;
  const submitter = (await composition().store.audit.whoDid("submitPrompt", [target], connectionId)).get(target);
  return submitter ? submitter.memberId === memberId : hasRole(role, "operator");
}
