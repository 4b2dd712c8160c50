// The connections a member may use, for the settings page.

import "server-only";
import { type ConnectionView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { listConnectionViews } from "../connections/views";

export async function listConnections(viewer: Viewer, connection?: string): Promise<Result<ConnectionView[], Failure>> {
  return ok(await listConnectionViews(viewer, connection));
}
