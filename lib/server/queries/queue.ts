import "server-only";
import { type QueueView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";

export async function getQueue(_viewer: Viewer, _connection?: string): Promise<Result<QueueView, Failure>> {
  throw new Error("comes next");
}
