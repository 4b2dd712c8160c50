// Whether a service hands out the files that it lists, learnt from one that is there. Guarantees: nothing is changed; an outage stays a
// failure; a file that went away meanwhile teaches nothing.

import "server-only";
import { type Failure, lacksOperation } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { fromTop } from "@/lib/contract/userdata-paths";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toBrowser } from "../answers/to-browser";
import { type Access } from "../connections/access";
import { listFolder } from "../files/list-files";

export async function readsFiles(access: Access, dir: string, signal?: AbortSignal): Promise<Result<boolean | undefined, Failure>> {
  const query = { dir, recurse: true, split: false, full_info: true };
  const listed = await listFolder(access.upstream, query, signal);
  if (!listed.ok) return failed(toBrowser(listed.failure, access));
  const [first] = fromTop(listed.value, dir);
  if (!first) return ok(undefined);
  const bytes = await access.upstream.forward(operations.readUserdata, {
    params: { file: first.path },
    headers: { range: "bytes=0-0" },
    signal,
  });
  if (bytes.ok) {
    // A refused range is an answer too: the file is empty.
    await bytes.value.body?.cancel();
    return ok(true);
  }
  if (lacksOperation(bytes.failure)) return ok(false);
  return bytes.failure.status === 404 ? ok(undefined) : failed(toBrowser(bytes.failure, access));
}
