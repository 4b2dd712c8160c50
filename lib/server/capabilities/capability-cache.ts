// Optional capabilities of services, cached for ten minutes from their responses and from probes.
// If even the job list was missing, the service was down, and missing capabilities found during that time are dropped.

import "server-only";
import { type Capability } from "@/lib/contract/capabilities";
import { findCoreList, isRead, type Operation } from "@/lib/contract/operation";
import { isAbsentStatus } from "../upstream/failures";

const CACHE_MS = 10 * 60_000;

export type CapabilityCache = ReturnType<typeof createCapabilityCache>;

export function createCapabilityCache(now: () => number) {
  const presenceByConnection = new Map<string, Map<Capability, { present: boolean; at: number }>>();
  /** First rejected item per operation. `item` is undefined once the operation has accepted a request. */
  const rejectionsByConnection = new Map<string, Map<string, { item?: string; at: number }>>();
  const downConnections = new Set<string>();
  function setFirstRejection(connectionId: string, { name }: Operation, item?: string): void {
    const refusals = rejectionsByConnection.get(connectionId) ?? new Map<string, { item?: string; at: number }>();
    refusals.set(name, { item, at: now() });
    rejectionsByConnection.set(connectionId, refusals);
  }
  function dropMissing(connectionId: string): void {
    const capabilities = presenceByConnection.get(connectionId);
    for (const [capability, { present }] of capabilities ?? []) if (!present) capabilities?.delete(capability);
  }
  return {
    record(connectionId: string, operation: Operation, status: number): void {
      const present = toPresence(operation, status);
      if (findCoreList(operation)) {
        if (present === false) downConnections.add(connectionId);
        else if (present === true && downConnections.delete(connectionId)) dropMissing(connectionId);
      }
      if (status < 300 && !isRead(operation)) setFirstRejection(connectionId, operation);
      if (operation.capability === undefined || present === undefined) return;
      const capabilities = presenceByConnection.get(connectionId) ?? new Map<Capability, { present: boolean; at: number }>();
      capabilities.set(operation.capability, { present, at: now() });
      presenceByConnection.set(connectionId, capabilities);
    },
    /** Records that the operation rejected this existing item. Returns true if it has also rejected a different one and accepted none. */
    recordItemRefusal(connectionId: string, operation: Operation, item: string): boolean {
      const firstRefusal = rejectionsByConnection.get(connectionId)?.get(operation.name);
      if (firstRefusal && now() - firstRefusal.at < CACHE_MS) return firstRefusal.item !== undefined && firstRefusal.item !== item;
      setFirstRejection(connectionId, operation, item);
      return false;
    },
    get(connectionId: string, capability: Capability): boolean | undefined {
      const entry = presenceByConnection.get(connectionId)?.get(capability);
      return entry && now() - entry.at < CACHE_MS ? entry.present : undefined;
    },
    clear(connectionId: string | undefined): void {
      for (const entries of [presenceByConnection, rejectionsByConnection]) {
        if (connectionId === undefined) entries.clear();
        else entries.delete(connectionId);
      }
    },
  };
}

function toPresence(operation: Operation, status: number): boolean | undefined {
  if (isAbsentStatus(operation, status) || (status === 404 && findCoreList(operation))) return false;
  if (status >= 200 && status < 400 && isRead(operation)) return true;
  return undefined;
}
