import { type InvitationState } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { isObject } from "@/lib/contract/json/json";

const spent = ["used", "expired", "withdrawn", "unknown"] as const satisfies readonly InvitationState[];
export type InvitationReason = (typeof spent)[number] | "taken" | "noToken";

/** What a refused acceptance says of the link itself; undefined for a fault that has nothing to do with it. */
export function invitationReason({ code, details }: Failure): InvitationReason | undefined {
  if (code === "CONFLICT") return "taken";
  const said = isObject(details) ? details.invitation : undefined;
  return spent.find((state) => state === said);
}
