// Whether what runs at a service can be stopped, before anybody presses.
// Guarantees: learnt by the cheapest read of the generation that has it, once in a while, and never by a call that changes anything;
// once both ways have been refused as absent it is said no more. Where nothing could be learnt, it is left to the press.

import "server-only";
import { operations } from "@/lib/contract/operations";
import { type Access } from "../connections/access";
import { composition } from "../composition";

export async function canStop({ connection, upstream }: Access, signal?: AbortSignal): Promise<boolean> {
  const knows = (capability: "jobs.cancel" | "interrupt" | "queue.list") => composition().capabilities.knows(connection.id, capability);
  if (knows("jobs.cancel") === true) return true;
  // Which is tried last: the other one was refused before it.
  if (knows("interrupt") === false) return false;
  if (knows("queue.list") === undefined) await upstream.call(operations.getQueueDepth, { signal });
  return knows("queue.list") !== false;
}
