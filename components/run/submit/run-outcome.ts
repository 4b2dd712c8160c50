import { type Failure } from "@/lib/contract/failure";
import { type SecretPlace } from "@/lib/contract/secrets/secret-places";
import { type NodeErrors } from "@/lib/contract/schemas/node-errors";

export type RunOutcome =
  /** `errors`: the service took the job and says that some of its nodes will not run. `heldSecrets`: what was sent holds a key or a token there. */
  | { kind: "accepted"; jobId: string; errors: NodeErrors; heldSecrets?: readonly SecretPlace[] }
  /** Nothing was started, and the service says which nodes are wrong. */
  | { kind: "invalid"; failure: Failure; errors: NodeErrors }
  | { kind: "refused"; failure: Failure }
  /** It was sent and no readable answer came: a job may or may not exist. */
  | { kind: "unknown"; failure: Failure }
  /** Asked for afterwards: the console sent nothing on, or the service refused it. */
  | { kind: "lost"; failure: Failure };
