// Finds out whether a service has a capability before it is used: from cached results, otherwise with a probe from the contract's table.
// An outage is a failure and is not cached.

import "server-only";
import { addFolderPath } from "@/lib/contract/assets/file-refs";
import { capabilities, type Capability, type Probe } from "@/lib/contract/capabilities";
import { hasFeature } from "@/lib/contract/connections";
import { type Failure, isMissingOperation } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Access } from "../connections/access";
import { listFolder } from "../operations/list-files";
import { redactForBrowser } from "../responses/redact";

/** More than one, because a file may be damaged. */
const MAX_PROBED_FILES = 2;

async function probeFileReads(access: Access, dir: string, signal?: AbortSignal): Promise<Result<boolean | undefined, Failure>> {
  const query = { dir, recurse: true, split: false, full_info: true };
  const folderResult = await listFolder(access.upstream, query, signal);
  if (!folderResult.ok) return failed(redactForBrowser(folderResult.failure, access));
  const files = addFolderPath(folderResult.value, dir).slice(0, MAX_PROBED_FILES);
  for (const { path } of files) {
    const fileResult = await access.upstream.forward(operations.readUserdata, {
      params: { file: path },
      headers: { range: "bytes=0-0" },
      signal,
    });
    if (fileResult.ok) {
      // A rejected range also counts as success, because the file is empty.
      await fileResult.value.body?.cancel();
      return ok(true);
    }
    if (isMissingOperation(fileResult.failure)) return ok(false);
    if (fileResult.failure.status !== 404) return failed(redactForBrowser(fileResult.failure, access));
  }
  const secondResult = files.length > 0 && (await listFolder(access.upstream, query, signal));
  if (!secondResult) return ok(undefined);
  if (!secondResult.ok) return failed(redactForBrowser(secondResult.failure, access));
  const remainingPaths = new Set(addFolderPath(secondResult.value, dir).map(({ path }) => path));
  return ok(files.every(({ path }) => remainingPaths.has(path)) ? false : undefined);
}

/** Undefined if the probe was inconclusive. */
type Presence = Result<boolean | undefined, Failure>;
/** `dir` is a folder that may contain files for the probe. */
type ProbeOptions = { dir?: string; signal?: AbortSignal };

export async function hasCapability(access: Access, capability: Capability, options: ProbeOptions = {}): Promise<Presence> {
  const isOffered = access.composition.capabilities.get(access.connection.id, capability);
  if (isOffered !== undefined) return ok(isOffered);
  const row = capabilities[capability];
  if (row.with) return hasCapability(access, row.with, options);
  let lastResult: Presence = ok(undefined);
  for (const alternative of row.anyOf ?? []) {
    lastResult = await hasCapability(access, alternative, options);
    if (lastResult.ok && lastResult.value === true) return lastResult;
  }
  // Members with access to jobs only may read the queue. They may not run the other probes.
  const canProbe = row.probe === "queue" || hasFeature(access.connection, "fullAccess");
  return row.probe && canProbe ? probes[row.probe](access, options) : lastResult;
}

const probes: Readonly<Record<Probe, (access: Access, options: ProbeOptions) => Promise<Presence>>> = {
  tags: async (access, { signal }) => toPresence(access, await access.upstream.call(operations.listTags, { query: { limit: 1 }, signal })),
  queue: async (access, { signal }) => toPresence(access, await access.upstream.call(operations.getQueueDepth, { signal })),
  file: async (access, { dir, signal }) => (dir === undefined ? ok(undefined) : probeFileReads(access, dir, signal)),
};

function toPresence(access: Access, result: Result<unknown, Failure>): Presence {
  if (result.ok) return ok(true);
  return isMissingOperation(result.failure) ? ok(false) : failed(redactForBrowser(result.failure, access));
}

/** True if the probe was inconclusive, because the request itself will show the result. */
export async function canStopJobs(access: Access, signal?: AbortSignal): Promise<boolean> {
  const presence = await hasCapability(access, "jobs.stop", { signal });
  return !presence.ok || presence.value !== false;
}
