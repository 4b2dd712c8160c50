// User data files for pages: the listing of a folder.
// Guarantees: a folder that is not there yet is an empty one, since folders come with their first file; every other failure is a failure.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type UserdataFile } from "@/lib/contract/schemas/userdata";
import { isNoFolder } from "@/lib/contract/userdata-paths";
import { ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { findConnection, readThrough } from "../connections/access";

export async function listFiles(viewer: Viewer, dir: string, connection?: string): Promise<Result<UserdataFile[], Failure>> {
  // Asked for by itself: a connection that is not there must not look like a folder that is not there.
  const known = await findConnection(viewer, connection);
  if (!known.ok) return known;
  const files = await readThrough(viewer, connection, operations.listUserdata, { query: { dir, recurse: true, full_info: true } });
  return !files.ok && isNoFolder(files.failure) ? ok([]) : files;
}
