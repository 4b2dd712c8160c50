// Which nodes of a run need not run: those whose result is still known, and those that only such nodes read.
// What a node passes on is known to this worker alone; what it puts out is known to all of the user's jobs.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { own } from "@/lib/contract/json/own";
import { unwrapLiteral } from "../link";
import { readLiteral } from "../literal";
import { type Plan, type PlannedNode } from "../plan";
import { type ProducedFile, type RunRequest } from "../run";
import { recallOutputs, rememberOutputs } from "../stored-outputs";
import { type NodeValue } from "../values";
import { type NodeCache } from "./node-cache";

/** In a worker: a hash of the bundle that holds all nodes, and of the library that decodes and encodes. */
const generation = createHash("sha256")
  .update(readFileSync(fileURLToPath(import.meta.url)))
  .update(writeExactJson(sharp.versions))
  .digest("hex");

/** Empty if the request names no cache. The order must be that of the plan. */
function createCacheKeys(order: readonly PlannedNode[], request: RunRequest): Map<string, string> {
  const keys = new Map<string, string>();
  if (request.cacheDir === undefined) return keys;
  // Files carry the graph, so another graph makes other files.
  const carried = digest(request.pngText);
  for (const planned of order) {
    const { id, definition, links } = planned;
    if (definition.cacheable === false || [...links.values()].some(({ source }) => !keys.has(source))) continue;
    const inputs = definition.inputs.map(({ name, type }) => nameInput(planned, { name, type }, keys, request));
    keys.set(id, digest([generation, definition.name, inputs, definition.hidden ? carried : ""]));
  }
  return keys;
}

function nameInput(
  { node, definition, links }: PlannedNode,
  { name, type }: { name: string; type: string },
  keys: ReadonlyMap<string, string>,
  request: RunRequest,
): unknown {
  const link = links.get(name);
  if (link) return ["link", keys.get(link.source), link.index];
  const written = own(node.inputs, name);
  if (written === undefined) return ["absent"];
  const literal = readLiteral(type, unwrapLiteral(written));
  const value = literal.ok ? literal.value : written;
  if (name !== definition.imageInput || typeof value !== "string") return ["literal", value];
  // A missing file is reported by the node that reads it.
  return ["file", own(request.images, value)?.hash];
}

function digest(value: unknown): string {
  return createHash("sha256").update(writeExactJson(value)).digest("hex");
}

export type NodeResultKept = { values: readonly NodeValue[]; files: ProducedFile[]; texts?: string[] };

export type Reuse = {
  /** Undefined for a node that has to run. A node whose values no other node needs has a result without values. */
  of(id: string): NodeResultKept | undefined;
  /** Remembers what a node passed on and put out. */
  keep(planned: PlannedNode, result: NodeResultKept): Promise<void>;
};

const nothing: NodeResultKept = { values: [], files: [] };

export async function planReuse(plan: Plan, request: RunRequest, cache: NodeCache): Promise<Reuse> {
  const keys = createCacheKeys(plan.order, request);
  const inMemory = (key: string) => `${request.cacheDir ?? ""}:${key}`;
  const known = new Map<string, NodeResultKept>();
  /** Nodes whose values are needed by a node that has to run. */
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

  // From the end: a node is needed if it puts something out, or if a node that has to run reads it.
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
