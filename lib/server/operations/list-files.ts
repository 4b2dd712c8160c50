// Lists the user data files of a folder. A missing folder counts as empty. Returned paths are relative to the folder for every service (wire facts 3.21).

import "server-only";
import { ROOT_FOLDER } from "@/lib/contract/assets/file-refs";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { countSkipped, recordSkipped } from "@/lib/contract/json/readers";
import { operations } from "@/lib/contract/operations";
import { type UserdataFile } from "@/lib/contract/operations/files";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Context } from "../auth/viewer";
import { openConnection } from "../connections/access";
import { readOperationQuery } from "../requests/read-request";
import { redactForBrowser } from "../responses/redact";
import { toUpstreamNotFound } from "../upstream/failures";
import { type Upstream } from "../upstream/upstream";

type FilesResult = Result<UserdataFile[], Failure>;

export async function listFiles(context: Context, search: URLSearchParams, signal?: AbortSignal): Promise<FilesResult> {
  const access = await openConnection(context, search.get(CONNECTION_PARAMETER) ?? undefined);
  if (!access.ok) return access;
  const query = readOperationQuery(search, operations.listUserdata);
  if (!query.ok) return query;
  const folderResult = await listFolder(access.value.upstream, query.value, signal);
  return folderResult.ok
    ? ok(recordSkipped(redactForBrowser(folderResult.value, access.value), countSkipped(folderResult.value)))
    : failed(redactForBrowser(folderResult.failure, access.value));
}

export async function listFolder(upstream: Upstream, query: Record<string, unknown>, signal?: AbortSignal): Promise<FilesResult> {
  const dir = String(query.dir);
  const list = async (folder: string): Promise<FilesResult> => {
    const filesResult = await upstream.call(operations.listUserdata, { query: { ...query, dir: folder }, signal });
    if (filesResult.ok) return ok(mapFiles(filesResult.value, (file) => ({ ...file, path: file.path.replace(/^\/+/, "") })));
    if (!isMissingFolder(filesResult.failure)) return filesResult;
    // If the job list also returns 404, the folder's 404 doesn't mean that the folder is missing.
    const jobs = await upstream.call(operations.listJobs, { query: { offset: 0, limit: 1 }, signal });
    return jobs.ok || jobs.failure.status !== 404 ? ok([]) : failed(toUpstreamNotFound(filesResult.failure));
  };
  const result = await list(dir);
  if (!result.ok || result.value.length === 0 || dir === ROOT_FOLDER || !result.value.every(({ path }) => path.startsWith(dir)))
    return result;
  const relativeFiles = mapFiles(result.value, (file) => ({ ...file, path: file.path.slice(dir.length) }));
  // If paths are relative to the folder, files directly in it have no slash.
  if (query.recurse !== true) return ok(relativeFiles);
  // Either the paths start at the top, or the folder contains only a folder with the same name. In the latter case, the inner listing has the
  // same files. With paths from the top it never does, because the shortest path of a folder is not inside the folder of its name.
  const innerResult = await list(dir + dir);
  // If this fails, the paths are shortened. A wrongly shortened path names no existing file: each file of this folder starts with its name.
  if (!innerResult.ok) return innerResult.failure.status === 401 ? innerResult : ok(relativeFiles);
  const innerPaths = new Set(innerResult.value.map(({ path }) => path));
  return relativeFiles.every(({ path }) => innerPaths.has(path)) ? result : ok(relativeFiles);
}

function mapFiles(files: UserdataFile[], mapFile: (file: UserdataFile) => UserdataFile): UserdataFile[] {
  return recordSkipped(files.map(mapFile), countSkipped(files));
}

/** Some services return 404 for a folder without files. */
function isMissingFolder({ code, status }: Failure): boolean {
  return code === "NOT_FOUND" && status === 404;
}
