// Optional capabilities of services, cached for ten minutes from their responses and from probes.
// A missing job list means that the service was down, so capabilities that were missing meanwhile are dropped.

import "server-only";
import { type Capability } from "@/lib/contract/capabilities";
import { findCoreList, isRead, type Operation } from "@/lib/contract/operation";
import { isMissingOperationStatus } from "../upstream/failures";

const CACHE_MS = 10 * 60_000;

export type CapabilityCache = ReturnType<typeof createCapabilityCache>;

export function createCapabilityCache(now: () => number) {
  const presenceByConnection = new Map<string, Map<Capability, { isPresent: boolean; at: number }>>();
  /** First refused item per operation. `item` is undefined once the operation has accepted a request. */
  const refusalsByConnection = new Map<string, Map<string, { item?: string; at: number }>>();
  const downConnections = new Set<string>();
  function setFirstRefusal(connectionId: string, { name }: Operation, item?: string): void {
    const refusals = refusalsByConnection.get(connectionId) ?? new Map<string, { item?: string; at: number }>();
    refusals.set(name, { item, at: now() });
    refusalsByConnection.set(connectionId, refusals);
  }
  function dropMissing(connectionId: string): void {
    const capabilities = presenceByConnection.get(connectionId);
    for (const [capability, { isPresent }] of capabilities ?? []) if (!isPresent) capabilities?.delete(capability);
  }
  return {
    record(connectionId: string, operation: Operation, status: number): void {
      const isPresent = toPresence(operation, status);
      if (findCoreList(operation)) {
        if (isPresent === false) downConnections.add(connectionId);
        else if (isPresent === true && downConnections.delete(connectionId)) dropMissing(connectionId);
      }
      if (status < 300 && !isRead(operation)) setFirstRefusal(connectionId, operation);
      if (operation.capability === undefined || isPresent === undefined) return;
      const capabilities = presenceByConnection.get(connectionId) ?? new Map<Capability, { isPresent: boolean; at: number }>();
      capabilities.set(operation.capability, { isPresent, at: now() });
      presenceByConnection.set(connectionId, capabilities);
    },
    /** Records that the operation rejected this existing item. Returns true if it has also rejected a different one and accepted none. */
    recordItemRefusal(connectionId: string, operation: Operation, item: string): boolean {
      const firstRefusal = refusalsByConnection.get(connectionId)?.get(operation.name);
      if (firstRefusal && now() - firstRefusal.at < CACHE_MS) return firstRefusal.item !== undefined && firstRefusal.item !== item;
      setFirstRefusal(connectionId, operation, item);
      return false;
    },
    get(connectionId: string, capability: Capability): boolean | undefined {
      const entry = presenceByConnection.get(connectionId)?.get(capability);
      return entry && now() - entry.at < CACHE_MS ? entry.isPresent : undefined;
    },
    clear(connectionId: string | undefined): void {
      for (const entries of [presenceByConnection, refusalsByConnection]) {
        if (connectionId === undefined) entries.clear();
        else entries.delete(connectionId);
      }
    },
  };
}

function toPresence(operation: Operation, status: number): boolean | undefined {
  if (isMissingOperationStatus(operation, status) || (status === 404 && findCoreList(operation))) return false;
  if (status >= 200 && status < 400 && isRead(operation)) return true;
  return undefined;
}
