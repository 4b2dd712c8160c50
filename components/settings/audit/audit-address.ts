import { withQuery } from "@/lib/browser/urls";
import { type AuditQuery } from "@/lib/contract/audit/audit";

export type AuditView = Pick<AuditQuery, "member" | "action" | "on" | "within" | "before" | "upTo">;

/** The address of a page of the log; it includes the filters, and can be shared. */
export function auditAddress({ member, action, on, within, before, upTo }: AuditView): `/${string}` {
  return withQuery("/settings/audit", { member, action, on, within, before, upTo });
}

export function auditFile({ member, action, on, within }: AuditView): `/${string}` {
  return withQuery("/api/console/audit/export", { member, action, on, within });
}
