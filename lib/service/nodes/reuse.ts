// Which nodes of a run need not run: those whose result is still known, and those that only such nodes read.
// What a node hands on is known to this worker alone; what it puts out is known to all of the user's jobs.

import { createCacheKeys } from "./cache-keys";
import { type NodeCache } from "./node-cache";
import { type Plan, type PlannedNode } from "./plan";
import { type ProducedFile, type RunRequest } from "./run";
import { recallOutputs, rememberOutputs } from "./stored-outputs";
import { type NodeValue } from "./values";

export type NodeResultKept = { values: readonly NodeValue[]; files: ProducedFile[]; texts?: string[] };

export type Reuse = {
  /** Undefined for a node that has to run. A node that no other needs has a result without values. */
  of(id: string): NodeResultKept | undefined;
  /** Remembers what a node handed on and put out. */
  keep(planned: PlannedNode, result: NodeResultKept): Promise<void>;
};

const nothing: NodeResultKept = { values: [], files: [] };

export async function planReuse(plan: Plan, request: RunRequest, cache: NodeCache): Promise<Reuse> {
  const keys = createCacheKeys(plan.order, request);
  const inMemory = (key: string) => `${request.cacheDir ?? ""}:${key}`;
  const known = new Map<string, NodeResultKept>();
  /** Nodes whose values a node that has to run will ask for. */
  const read = new Set<string>();

  async function recall(planned: PlannedNode): Promise<NodeResultKept | undefined> {
    const { id, definition } = planned;
    const isShown = definition.isOutput === true;
    if (!isShown && !read.has(id)) return nothing;
    const key = keys.get(id);
    if (key === undefined) return undefined;
    const values = read.has(id) ? cache.get(inMemory(key)) : [];
    if (!values) return undefined;
    const shown = isShown ? await recallOutputs(request, key, planned) : nothing;
    return shown && { ...shown, values };
  }

  // From the end: a node is needed when it puts something out, or when a node that has to run reads it.
  for (const planned of plan.order.toReversed()) {
    const result = await recall(planned);
    if (result) known.set(planned.id, result);
    else for (const { source } of planned.links.values()) read.add(source);
  }
  return {
    of: (id) => known.get(id),
    async keep({ id, definition }, { values, ...shown }) {
      const key = keys.get(id);
      if (key === undefined) return;
      if ((plan.readers.get(id) ?? 0) > 0) cache.put(inMemory(key), values);
      if (definition.isOutput) await rememberOutputs(request, key, shown);
    },
  };
}
