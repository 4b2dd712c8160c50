// What an entry of the audit log says it was about: ids, and the names that the console's own lists told of them last.
// Must never: write down a name as a service told it; like all that leaves it is masked first.

import "server-only";
import { type AuditThing } from "@/lib/contract/audit/audit-items";
import { type Access } from "../connections/access";
import { composition } from "../composition";
import { toBrowser } from "../answers/to-browser";

export function actedOn(ids: readonly string[], access: Access): AuditThing[] {
  const { seenNames } = composition();
  const things = ids.map((id) => ({ id, name: seenNames.find(access.connection.id, id) }));
  return toBrowser(things, access);
}
