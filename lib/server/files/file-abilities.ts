// Whether a service hands out the files that it lists, learnt from one that is there. That it does not is an answer here and no failure,
// so that a browser does not log it as an error. Guarantees: nothing is changed; an outage stays a failure and says nothing of the service.

import "server-only";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { type Failure, lacksOperation } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { fromTop } from "@/lib/contract/userdata-paths";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { toBrowser } from "../answers/to-browser";
import { openConnection } from "../connections/access";
import { listFiles } from "./list-files";

/** `search` is that of GET /api/userdata. Null: there is no file to learn it from, or it went away meanwhile. */
export async function readsFiles(
  viewer: Viewer,
  search: URLSearchParams,
  signal?: AbortSignal,
): Promise<Result<{ reads: boolean | null }, Failure>> {
  const listed = await listFiles(viewer, search, signal);
  if (!listed.ok) return listed;
  const dir = search.get("dir") ?? "";
  const [first] = fromTop(listed.value, dir);
  if (!first) return ok({ reads: null });
  const access = await openConnection(viewer, search.get(CONNECTION_PARAMETER) ?? undefined);
  if (!access.ok) return access;
  const headers = { range: "bytes=0-0" };
  const bytes = await access.value.upstream.forward(operations.readUserdata, { params: { file: first.path }, headers, signal });
  if (bytes.ok) {
    // A refused range is an answer too: the file is empty.
    await bytes.value.body?.cancel();
    return ok({ reads: true });
  }
  if (lacksOperation(bytes.failure)) return ok({ reads: false });
  return bytes.failure.status === 404 ? ok({ reads: null }) : failed(toBrowser(bytes.failure, access.value));
}
