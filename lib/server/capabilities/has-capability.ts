// Whether a service has a capability, before anybody acts. Guarantees: what was learnt comes first; else the contract's table says by which
// read it is learnt, and nothing is changed for it; an outage stays a failure and says nothing of the service.

import "server-only";
import { capabilities, type Capability } from "@/lib/contract/capabilities";
import { type Failure, lacksOperation } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toBrowser } from "../answers/to-browser";
import { type Access } from "../connections/access";
import { composition } from "../composition";
import { readsFiles } from "./reads-files";

/** Undefined: nothing could be learnt. */
type Known = Result<boolean | undefined, Failure>;
/** `dir`: a folder that may hold a file to learn from. */
type How = { dir?: string; signal?: AbortSignal };

export async function hasCapability(access: Access, capability: Capability, how: How = {}): Promise<Known> {
  const known = composition().capabilities.knows(access.connection.id, capability);
  if (known !== undefined) return ok(known);
  const row = capabilities[capability];
  if (row.with) return hasCapability(access, row.with, how);
  let last: Known = ok(undefined);
  for (const one of row.anyOf ?? []) {
    last = await hasCapability(access, one, how);
    if (last.ok && last.value === true) return last;
  }
  return row.probe ? probes[row.probe](access, how) : last;
}

const probes: Readonly<Record<"tags" | "queue" | "file", (access: Access, how: How) => Promise<Known>>> = {
  tags: async (access, { signal }) => told(access, await access.upstream.call(operations.listTags, { query: { limit: 1 }, signal })),
  queue: async (access, { signal }) => told(access, await access.upstream.call(operations.getQueueDepth, { signal })),
  file: async (access, { dir, signal }) => (dir === undefined ? ok(undefined) : readsFiles(access, dir, signal)),
};

function told(access: Access, answer: Result<unknown, Failure>): Known {
  if (answer.ok) return ok(true);
  return lacksOperation(answer.failure) ? ok(false) : failed(toBrowser(answer.failure, access));
}

/** Where nothing could be learnt, it is left to the act. */
export async function canStop(access: Access, signal?: AbortSignal): Promise<boolean> {
  const known = await hasCapability(access, "jobs.stop", { signal });
  return !known.ok || known.value !== false;
}
