// User data files for pages: the listing of a folder, and whether the service hands files out.
// Guarantees: a folder that is not there yet is an empty one, since folders come with their first file; every other failure is a failure.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type UserdataFile } from "@/lib/contract/schemas/userdata";
import { ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { readThrough } from "../connections/access";

export async function listFiles(viewer: Viewer, dir: string, connection?: string): Promise<Result<UserdataFile[], Failure>> {
  const files = await readThrough(viewer, connection, operations.listUserdata, { query: { dir, recurse: true, full_info: true } });
  return !files.ok && files.failure.code === "NOT_FOUND" && files.failure.status === 404 ? ok([]) : files;
}
