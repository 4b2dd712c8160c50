// Tells the owner of a job where in it a key or a token is masked: in `held_secrets`, the console's own field.
// Guarantees: its owner is the member who submitted it here; of a job from elsewhere, whoever may submit. All others get the masks alone.
// Must never: be given what was not masked, or let a service's own word under this name through.

import "server-only";
import { isObject, textOf } from "@/lib/contract/json/json";
import { type Operation } from "@/lib/contract/operation";
import { hasRole, type Role } from "@/lib/contract/people/roles";
import { placesInJob, placesInWorkflow, type SecretPlace } from "@/lib/contract/secrets/secret-places";
import { composition } from "../composition";

type Asker = { memberId: string; role: Role };
/** `sent`: what was submitted, masked. `told`: of a large answer, found where it was read. */
type Found = { sent?: unknown; told?: readonly SecretPlace[] };

export async function withHeldSecrets<T>(operation: Operation, connectionId: string, value: T, asker: Asker, found: Found): Promise<T>;
export async function withHeldSecrets(
  { tells }: Operation,
  connectionId: string,
  value: unknown,
  asker: Asker,
  { sent, told }: Found,
): Promise<unknown> {
  if ((tells !== "job" && tells !== "submission") || !isObject(value)) return value;
  const places = tells === "submission" ? placesInWorkflow(sent) : (told ?? placesInJob(value));
  const isTold = places.length > 0 && (tells === "submission" || (await isOwner(connectionId, value.id, asker)));
  // Nothing is added where there is nothing to tell, and nothing stays that came under this name.
  if (!isTold && !("held_secrets" in value)) return value;
  return { ...value, held_secrets: isTold ? places : undefined };
}

async function isOwner(connectionId: string, id: unknown, { memberId, role }: Asker): Promise<boolean> {
  const target = textOf(id);
  if (target === undefined) return false;
  const submitter = (await composition().store.audit.whoDid("submitPrompt", [target], connectionId)).get(target);
  return submitter ? submitter.memberId === memberId : hasRole(role, "operator");
}
