import { type InvitationState } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { object, oneOf } from "@/lib/contract/json/readers";

const spent = ["used", "expired", "withdrawn", "unknown"] as const satisfies readonly InvitationState[];
export type InvitationReason = (typeof spent)[number] | "taken" | "noToken";

const refused = object({ invitation: oneOf(spent) });

/** What a refusal says about the link itself; undefined for failures that have nothing to do with it. */
export function invitationReason({ code, details }: Failure): InvitationReason | undefined {
  if (code === "CONFLICT") return "taken";
  return refused(details)?.invitation;
}
