// Which nodes of a run need not run: those whose result is still known, and those that only such nodes read.

import { createCacheKeys } from "./cache-keys";
import { type CacheEntry, type NodeCache } from "./node-cache";
import { type Plan } from "./plan";
import { type RunRequest } from "./run";

export type Reuse = {
  /** Undefined for a node that has to run. A node that nobody needs has an entry without values. */
  of(id: string): CacheEntry | undefined;
  /** Remembers what a node put out. */
  keep(id: string, entry: CacheEntry): void;
};

const nothing: CacheEntry = { values: [], files: [] };

export async function planReuse(plan: Plan, request: RunRequest, cache: NodeCache): Promise<Reuse> {
  const keys = await createCacheKeys(plan.order, request);
  const known = new Map<string, CacheEntry>();
  const needed = new Set(request.outputs);
  // From the end: a node is needed when an output, or a node that has to run, reads it.
  for (const { id, links } of plan.order.toReversed()) {
    const key = keys.get(id);
    const entry = key === undefined ? undefined : cache.get(key);
    if (!needed.has(id)) known.set(id, nothing);
    else if (entry) known.set(id, entry);
    else for (const { source } of links.values()) needed.add(source);
  }
  return {
    of: (id) => known.get(id),
    keep(id, entry) {
      const key = keys.get(id);
      if (key !== undefined) cache.put(key, entry);
    },
  };
}
