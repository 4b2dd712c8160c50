// Which of the given node classes a service's catalogue lacks. Guarantees: the catalogue, possibly megabytes, stays here; an outage is a
// failure and marks no class as lacking.

import "server-only";
import { type LackingClasses } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { objectOf } from "@/lib/contract/json/json";
import { operations } from "@/lib/contract/operations";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toBrowser } from "../answers/to-browser";
import { type Viewer } from "../auth/viewer";
import { openQuietly } from "../connections/access";
import { learnClassNames } from "../workflows/with-names";

export async function listLackingClasses(
  viewer: Viewer,
  names: readonly string[],
  connection?: string,
): Promise<Result<LackingClasses, Failure>> {
  // Connections that no one is using at the moment are asked too.
  const access = await openQuietly(viewer, connection);
  if (!access.ok) return access;
  // Not parsed by the schema: only the names are needed.
  const info = await access.value.upstream.exchange(operations.getObjectInfo, { waits: "poll" });
  if (!info.ok) return failed(toBrowser(info.failure, access.value));
  learnClassNames(access.value.connection.id, info.value.value);
  const classes = objectOf(info.value.value) ?? {};
  return ok({ lacking: names.filter((name) => !Object.hasOwn(classes, name)) });
}
