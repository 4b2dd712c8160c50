// Which of some node classes a service lacks, by its catalogue. Guarantees: the catalogue, which may be megabytes, stays here; an outage is
// a failure and says of no class that it is lacking.

import "server-only";
import { type LackingClasses } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { readThrough } from "../connections/access";

export async function listLackingClasses(
  viewer: Viewer,
  names: readonly string[],
  connection?: string,
): Promise<Result<LackingClasses, Failure>> {
  const info = await readThrough(viewer, connection, operations.getObjectInfo, { waits: "poll" });
  return info.ok ? ok({ lacking: names.filter((name) => !Object.hasOwn(info.value, name)) }) : info;
}
