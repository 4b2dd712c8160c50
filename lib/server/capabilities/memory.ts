// What a service has beyond the core of the interface: cached for ten minutes as its responses show it, otherwise learnt from a read.
// Absences found during an outage (the job list was not found either) are dropped.

import "server-only";
import { type Capability } from "@/lib/contract/capabilities";
import { coreListIn, isRead, type Operation } from "@/lib/contract/operation";
import { isAbsentStatus } from "../upstream/failures";

const REMEMBERED_MS = 10 * 60_000;

export type CapabilityMemory = ReturnType<typeof createCapabilityMemory>;

export function createCapabilityMemory(now: () => number) {
  const seen = new Map<string, Map<Capability, { present: boolean; at: number }>>();
  /** By operation: the first item that it refused; no item if it accepted one. */
  const refused = new Map<string, Map<string, { item?: string; at: number }>>();
  const out = new Set<string>();
  function note(connectionId: string, { name }: Operation, item?: string): void {
    const refusals = refused.get(connectionId) ?? new Map<string, { item?: string; at: number }>();
    refusals.set(name, { item, at: now() });
    refused.set(connectionId, refusals);
  }
  function dropRemoved(connectionId: string): void {
    const capabilities = seen.get(connectionId);
    for (const [capability, { present }] of capabilities ?? []) if (!present) capabilities?.delete(capability);
  }
  return {
    record(connectionId: string, operation: Operation, status: number): void {
      const present = verdict(operation, status);
      if (coreListIn(operation)) {
        if (present === false) out.add(connectionId);
        else if (present === true && out.delete(connectionId)) dropRemoved(connectionId);
      }
      if (status < 300 && !isRead(operation)) note(connectionId, operation);
      if (operation.capability === undefined || present === undefined) return;
      const capabilities = seen.get(connectionId) ?? new Map<Capability, { present: boolean; at: number }>();
      capabilities.set(operation.capability, { present, at: now() });
      seen.set(connectionId, capabilities);
    },
    /** Notes that the operation refused this existing item; true if it has refused another one before and accepted none. */
    isSecondRefused(connectionId: string, operation: Operation, item: string): boolean {
      const first = refused.get(connectionId)?.get(operation.name);
      if (first && now() - first.at < REMEMBERED_MS) return first.item !== undefined && first.item !== item;
      note(connectionId, operation, item);
      return false;
    },
    get(connectionId: string, capability: Capability): boolean | undefined {
      const entry = seen.get(connectionId)?.get(capability);
      return entry && now() - entry.at < REMEMBERED_MS ? entry.present : undefined;
    },
    forget(connectionId: string | undefined): void {
      for (const entries of [seen, refused]) {
        if (connectionId === undefined) entries.clear();
        else entries.delete(connectionId);
      }
    },
  };
}

function verdict(operation: Operation, status: number): boolean | undefined {
  if (isAbsentStatus(operation, status) || (status === 404 && coreListIn(operation))) return false;
  if (status >= 200 && status < 400 && isRead(operation)) return true;
  return undefined;
}
