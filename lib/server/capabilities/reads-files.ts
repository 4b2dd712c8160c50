// Whether a service hands out the files that it lists, learnt from one that is read, or from those that are listed and not handed out.
// Guarantees: nothing is changed; an outage stays a failure; a file that went away meanwhile teaches nothing.

import "server-only";
import { type Failure, lacksOperation } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { fromTop } from "@/lib/contract/userdata-paths";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toBrowser } from "../answers/to-browser";
import { type Access } from "../connections/access";
import { listFolder } from "../files/list-files";

/** One may be damaged. */
const TRIED = 2;

export async function readsFiles(access: Access, dir: string, signal?: AbortSignal): Promise<Result<boolean | undefined, Failure>> {
  const query = { dir, recurse: true, split: false, full_info: true };
  const listed = await listFolder(access.upstream, query, signal);
  if (!listed.ok) return failed(toBrowser(listed.failure, access));
  const files = fromTop(listed.value, dir).slice(0, TRIED);
  for (const { path } of files) {
    const bytes = await access.upstream.forward(operations.readUserdata, {
      params: { file: path },
      headers: { range: "bytes=0-0" },
      signal,
    });
    if (bytes.ok) {
      // A refused range is an answer too: the file is empty.
      await bytes.value.body?.cancel();
      return ok(true);
    }
    if (lacksOperation(bytes.failure)) return ok(false);
    if (bytes.failure.status !== 404) return failed(toBrowser(bytes.failure, access));
  }
  const after = files.length > 0 && (await listFolder(access.upstream, query, signal));
  if (!after) return ok(undefined);
  if (!after.ok) return failed(toBrowser(after.failure, access));
  const left = new Set(fromTop(after.value, dir).map(({ path }) => path));
  return ok(files.every(({ path }) => left.has(path)) ? false : undefined);
}
