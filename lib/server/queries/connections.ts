import "server-only";
import { type ConnectionView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";

export async function listConnections(_viewer: Viewer): Promise<Result<ConnectionView[], Failure>> {
  throw new Error("comes next");
}
