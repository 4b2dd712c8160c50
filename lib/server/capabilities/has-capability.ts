// Finds out whether a service has a capability, before it is used: from what was learnt, otherwise from a read that the contract's table
// names. An outage is a failure and teaches nothing about the service.

import "server-only";
import { fromTop } from "@/lib/contract/assets/file-refs";
import { capabilities, type Capability, type Probe } from "@/lib/contract/capabilities";
import { hasFeature } from "@/lib/contract/connections";
import { type Failure, isMissingOperation } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { failed, ok, type Result } from "@/lib/shared/result";
import { redactForBrowser } from "../answers/redact";
import { type Access } from "../connections/access";
import { listFolder } from "../operations/list-files";

/** More than one, because a file may be damaged. */
const TRIED = 2;

async function readsFiles(access: Access, dir: string, signal?: AbortSignal): Promise<Result<boolean | undefined, Failure>> {
  const query = { dir, recurse: true, split: false, full_info: true };
  const folderResult = await listFolder(access.upstream, query, signal);
  if (!folderResult.ok) return failed(redactForBrowser(folderResult.failure, access));
  const files = fromTop(folderResult.value, dir).slice(0, TRIED);
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
    if (isMissingOperation(bytes.failure)) return ok(false);
    if (bytes.failure.status !== 404) return failed(redactForBrowser(bytes.failure, access));
  }
  const after = files.length > 0 && (await listFolder(access.upstream, query, signal));
  if (!after) return ok(undefined);
  if (!after.ok) return failed(redactForBrowser(after.failure, access));
  const remaining = new Set(fromTop(after.value, dir).map(({ path }) => path));
  return ok(files.every(({ path }) => remaining.has(path)) ? false : undefined);
}

/** Undefined: nothing could be learnt. */
type Presence = Result<boolean | undefined, Failure>;
/** `dir`: a folder that may hold a file to learn from. */
type ProbeOptions = { dir?: string; signal?: AbortSignal };

export async function hasCapability(access: Access, capability: Capability, options: ProbeOptions = {}): Promise<Presence> {
  const isOffered = access.composition.capabilities.get(access.connection.id, capability);
  if (isOffered !== undefined) return ok(isOffered);
  const row = capabilities[capability];
  if (row.with) return hasCapability(access, row.with, options);
  let last: Presence = ok(undefined);
  for (const value of row.anyOf ?? []) {
    last = await hasCapability(access, value, options);
    if (last.ok && last.value === true) return last;
  }
  // Members who only see the jobs may read the queue; the other probes are not open to them.
  const mayProbe = row.probe === "queue" || hasFeature(access.connection, "fullAccess");
  return row.probe && mayProbe ? probes[row.probe](access, options) : last;
}

const probes: Readonly<Record<Probe, (access: Access, options: ProbeOptions) => Promise<Presence>>> = {
  tags: async (access, { signal }) =>
    presenceFrom(access, await access.upstream.call(operations.listTags, { query: { limit: 1 }, signal })),
  queue: async (access, { signal }) => presenceFrom(access, await access.upstream.call(operations.getQueueDepth, { signal })),
  file: async (access, { dir, signal }) => (dir === undefined ? ok(undefined) : readsFiles(access, dir, signal)),
};

function presenceFrom(access: Access, result: Result<unknown, Failure>): Presence {
  if (result.ok) return ok(true);
  return isMissingOperation(result.failure) ? ok(false) : failed(redactForBrowser(result.failure, access));
}

/** True if the check was inconclusive: the request itself will show it. */
export async function canStop(access: Access, signal?: AbortSignal): Promise<boolean> {
  const stopAbility = await hasCapability(access, "jobs.stop", { signal });
  return !stopAbility.ok || stopAbility.value !== false;
}
