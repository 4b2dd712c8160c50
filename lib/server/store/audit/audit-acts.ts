// Makes the ids that join the entries of one act in the audit log; made here, so no client chooses which entries its own are joined to.
// Guarantees: an id is for one member, one connection and one family of acts, a bounded number of entries, and only while the act
// continues.
// Must never: outlive the process; an act that continues after a restart is a second row.

import "server-only";
import { randomUUID } from "node:crypto";
import { familyOf } from "@/lib/contract/audit/audit-items";
import { createLru } from "@/lib/shared/lru";

/** Longer than any wait that a service asks for. */
const PAUSE_MS = 10 * 60_000;
const MOST_ENTRIES = 1_000;

type Written = { act?: string; action: string; memberId?: string; via?: string; connectionId?: string; at: number };

export function createActIds() {
  const open = createLru<string, { id: string; entries: number; at: number }>({ max: 10_000 });
  return ({ act, action, memberId, via, connectionId, at }: Written): string | null => {
    const family = act === undefined ? undefined : familyOf(action);
    if (family === undefined) return null;
    const key = [memberId, via, connectionId, family, act].join(" ");
    const known = open.get(key);
    const isOpen = known && known.entries < MOST_ENTRIES && at - known.at <= PAUSE_MS;
    const { id, entries } = isOpen ? known : { id: randomUUID(), entries: 0 };
    open.set(key, { id, entries: entries + 1, at });
    return id;
  };
}
