// What a service has beyond the core of the interface: cached for ten minutes as its responses show it, otherwise learnt from a read.
// Absences found during an outage (the job list was not found either) are dropped.

import "server-only";
import { fromTop } from "@/lib/contract/assets/file-refs";
import { capabilities, type Capability, type Probe } from "@/lib/contract/capabilities";
import { hasFeature } from "@/lib/contract/connections";
import { type Failure, lacksOperation } from "@/lib/contract/failure";
import { coreListIn, isRead, type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { failed, ok, type Result } from "@/lib/shared/result";
import { redactForBrowser } from "../answers/redact";
import { type Access } from "../connections/access";
import { listFolder } from "../operations/list-files";
import { saysAbsent } from "../upstream/failures";

const REMEMBERED_MS = 10 * 60_000;

export type CapabilityMemory = {
  learn(connectionId: string, operation: Operation, status: number): void;
  /** Notes that the operation refused this existing item; true if it has refused another one before and accepted none. */
  isSecondRefused(connectionId: string, operation: Operation, item: string): boolean;
  knows(connectionId: string, capability: Capability): boolean | undefined;
  forget(connectionId: string | undefined): void;
};

export function createCapabilityMemory(now: () => number): CapabilityMemory {
  const seen = new Map<string, Map<Capability, { present: boolean; at: number }>>();
  /** By operation: the first item that it refused; no item if it accepted one. */
  const refused = new Map<string, Map<string, { item?: string; at: number }>>();
  const out = new Set<string>();
  function note(connectionId: string, { name }: Operation, item?: string): void {
    const known = refused.get(connectionId) ?? new Map<string, { item?: string; at: number }>();
    known.set(name, { item, at: now() });
    refused.set(connectionId, known);
  }
  function forgetAbsent(connectionId: string): void {
    const known = seen.get(connectionId);
    for (const [capability, { present }] of known ?? []) if (!present) known?.delete(capability);
  }
  return {
    learn(connectionId, operation, status) {
      const present = verdict(operation, status);
      if (coreListIn(operation)) {
        if (present === false) out.add(connectionId);
        else if (present === true && out.delete(connectionId)) forgetAbsent(connectionId);
      }
      if (status < 300 && !isRead(operation)) note(connectionId, operation);
      if (operation.capability === undefined || present === undefined) return;
      const known = seen.get(connectionId) ?? new Map<Capability, { present: boolean; at: number }>();
      known.set(operation.capability, { present, at: now() });
      seen.set(connectionId, known);
    },
    isSecondRefused(connectionId, operation, item) {
      const first = refused.get(connectionId)?.get(operation.name);
      if (first && now() - first.at < REMEMBERED_MS) return first.item !== undefined && first.item !== item;
      note(connectionId, operation, item);
      return false;
    },
    knows(connectionId, capability) {
      const entry = seen.get(connectionId)?.get(capability);
      return entry && now() - entry.at < REMEMBERED_MS ? entry.present : undefined;
    },
    forget(connectionId) {
      for (const known of [seen, refused]) {
        if (connectionId === undefined) known.clear();
        else known.delete(connectionId);
      }
    },
  };
}

function verdict(operation: Operation, status: number): boolean | undefined {
  if (saysAbsent(operation, status) || (status === 404 && coreListIn(operation))) return false;
  if (status >= 200 && status < 400 && isRead(operation)) return true;
  return undefined;
}

/** More than one, because a file may be damaged. */
const TRIED = 2;

async function readsFiles(access: Access, dir: string, signal?: AbortSignal): Promise<Result<boolean | undefined, Failure>> {
  const query = { dir, recurse: true, split: false, full_info: true };
  const listed = await listFolder(access.upstream, query, signal);
  if (!listed.ok) return failed(redactForBrowser(listed.failure, access));
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
    if (bytes.failure.status !== 404) return failed(redactForBrowser(bytes.failure, access));
  }
  const after = files.length > 0 && (await listFolder(access.upstream, query, signal));
  if (!after) return ok(undefined);
  if (!after.ok) return failed(redactForBrowser(after.failure, access));
  const left = new Set(fromTop(after.value, dir).map(({ path }) => path));
  return ok(files.every(({ path }) => left.has(path)) ? false : undefined);
}

/** Undefined: nothing could be learnt. */
type Known = Result<boolean | undefined, Failure>;
/** `dir`: a folder that may hold a file to learn from. */
type How = { dir?: string; signal?: AbortSignal };

/** Members who only see the jobs get what was learnt before: no probe is open to them. */
export async function hasCapability(access: Access, capability: Capability, how: How = {}): Promise<Known> {
  const isOffered = access.composition.capabilities.knows(access.connection.id, capability);
  if (isOffered !== undefined || !hasFeature(access.connection, "fullAccess")) return ok(isOffered);
  const row = capabilities[capability];
  if (row.with) return hasCapability(access, row.with, how);
  let last: Known = ok(undefined);
  for (const one of row.anyOf ?? []) {
    last = await hasCapability(access, one, how);
    if (last.ok && last.value === true) return last;
  }
  return row.probe ? probes[row.probe](access, how) : last;
}

const probes: Readonly<Record<Probe, (access: Access, how: How) => Promise<Known>>> = {
  tags: async (access, { signal }) => knownFrom(access, await access.upstream.call(operations.listTags, { query: { limit: 1 }, signal })),
  queue: async (access, { signal }) => knownFrom(access, await access.upstream.call(operations.getQueueDepth, { signal })),
  file: async (access, { dir, signal }) => (dir === undefined ? ok(undefined) : readsFiles(access, dir, signal)),
};

function knownFrom(access: Access, answer: Result<unknown, Failure>): Known {
  if (answer.ok) return ok(true);
  return lacksOperation(answer.failure) ? ok(false) : failed(redactForBrowser(answer.failure, access));
}

/** If nothing could be learnt, answers true: the act itself will tell. */
export async function canStop(access: Access, signal?: AbortSignal): Promise<boolean> {
  const known = await hasCapability(access, "jobs.stop", { signal });
  return !known.ok || known.value !== false;
}
