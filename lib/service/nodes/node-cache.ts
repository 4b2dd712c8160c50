// The worker's cache between nodes and jobs: results and values.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn } from "@/lib/contract/json/json";
import { createLru } from "@/lib/shared/lru";
import { type Size } from "../images/raster";
import { checkCachedTexts, countValuePixels, isRaster, NodeFailure, type NodeValue, sumTextBytes } from "./definition";
import { readInputLiteral } from "./literal";
import { type Plan, type PlannedNode } from "./plan";
import { type ProducedFile, type RunRequest } from "./run";
import { cacheOutputs, restoreOutputs } from "./stored-outputs";

export type NodeCache = { get(key: string): readonly NodeValue[] | undefined; put(key: string, values: readonly NodeValue[]): void };

export function createNodeCache(maxBytes: number): NodeCache {
  const entries = createLru<string, readonly NodeValue[]>({ max: maxBytes, getSize: countBytes });
  return {
    get: (key) => entries.get(key),
    put(key, values) {
      // Don't evict all other results for one large result.
      if (countBytes(values) > maxBytes / 2) entries.delete(key);
      else entries.set(key, values);
    },
  };
}

const ENTRY_OVERHEAD_BYTES = 200;

function countBytes(values: readonly NodeValue[]): number {
  const frames = new Set(values.filter(isRaster).flatMap((raster) => raster.frames));
  const texts = values.filter((value) => typeof value === "string");
  return [ENTRY_OVERHEAD_BYTES, ...[...frames].map((frame) => frame.byteLength), ...texts.map((text) => text.length * 2)].reduce(
    (sum, bytes) => sum + bytes,
    0,
  );
}

const cacheVersion = createHash("sha256")
  .update(readFileSync(fileURLToPath(import.meta.url)))
  .update(writeExactJson(sharp.versions))
  .digest("hex");

/** `order` must be the order of the plan. Returns no keys if the request has no cache. */
function createCacheKeys(order: readonly PlannedNode[], request: RunRequest): Map<string, string> {
  const keys = new Map<string, string>();
  if (request.cacheDir === undefined) return keys;
  // Files contain the graph, so a different graph produces different files.
  const pngTextDigest = digest(request.pngText);
  for (const plannedNode of order) {
    const { id, definition, links } = plannedNode;
    if (definition.cacheable === false || [...links.values()].some(({ source }) => !keys.has(source))) continue;
    const inputs = definition.inputs.map(({ name, type }) => describeInput(plannedNode, { name, type }, keys, request));
    keys.set(id, digest([cacheVersion, definition.name, inputs, definition.hidden ? pngTextDigest : ""]));
  }
  return keys;
}

function describeInput(
  { node, definition, links }: PlannedNode,
  { name, type }: { name: string; type: string },
  keys: ReadonlyMap<string, string>,
  request: RunRequest,
): unknown {
  const link = links.get(name);
  if (link) return ["link", keys.get(link.source), link.output];
  const literal = readInputLiteral(node.inputs, name, type);
  if (!literal) return ["absent"];
  const value = literal.literal.ok ? literal.literal.value : getOwn(node.inputs, name);
  if (name !== definition.imageInput || typeof value !== "string") return ["literal", Object.is(value, -0) ? "-0.0" : value, literal.type];
  // The node that reads a missing file reports it.
  return ["file", getOwn(request.images, value)?.hash];
}

function digest(value: unknown): string {
  return createHash("sha256").update(writeExactJson(value)).digest("hex");
}

export type CachedNodeResult = { values: readonly NodeValue[]; files: ProducedFile[]; texts?: string[] };

export type Reuse = {
  findResult(id: string): CachedNodeResult | undefined;
  storeResult(plannedNode: PlannedNode, result: CachedNodeResult): Promise<void>;
};

const emptyResult: CachedNodeResult = { values: [], files: [] };

export async function planReuse(plan: Plan, request: RunRequest, cache: NodeCache): Promise<Reuse> {
  const keys = createCacheKeys(plan.order, request);
  const toMemoryKey = (key: string) => `${request.cacheDir ?? ""}:${key}`;
  const cachedResults = new Map<string, CachedNodeResult>();
  /** Nodes whose values are needed by a node that has to run. */
  const neededNodes = new Set<string>();

  async function findCachedResult(plannedNode: PlannedNode): Promise<CachedNodeResult | undefined> {
    const { id, definition } = plannedNode;
    const isShown = definition.isOutput === true;
    if (!isShown && !neededNodes.has(id)) return emptyResult;
    const key = keys.get(id);
    if (key === undefined) return undefined;
    const values = neededNodes.has(id) ? cache.get(toMemoryKey(key)) : [];
    if (!values) return undefined;
    const restoredOutputs = isShown ? await restoreOutputs(request, key, plannedNode) : emptyResult;
    return restoredOutputs && { ...restoredOutputs, values };
  }

  // Start at the end: a node is needed if it produces output, or if a node that has to run reads it.
  for (const plannedNode of plan.order.toReversed()) {
    const result = await findCachedResult(plannedNode);
    if (result) cachedResults.set(plannedNode.id, result);
    else for (const { source } of plannedNode.links.values()) neededNodes.add(source);
  }
  return {
    findResult: (id) => cachedResults.get(id),
    async storeResult({ id, definition }, { values, ...outputs }) {
      const key = keys.get(id);
      if (key === undefined) return;
      if ((plan.readerCounts.get(id) ?? 0) > 0) cache.put(toMemoryKey(key), values);
      if (definition.isOutput) await cacheOutputs(request, key, outputs);
    },
  };
}

export type NodeValues = {
  get(id: string): readonly NodeValue[] | undefined;
  storeValues(id: string, values: readonly NodeValue[]): void;
  release(id: string): void;
  /** Adds to the pixels of the running node. `resetClaimedPixels` resets them once the node's values are stored. */
  claimPixels(size: Size, frames: number): void;
  resetClaimedPixels(): void;
  entries(): IterableIterator<[string, readonly NodeValue[]]>;
};

export function createNodeValues(readerCounts: ReadonlyMap<string, number>, maxPixels: number): NodeValues {
  const valuesById = new Map<string, readonly NodeValue[]>();
  const remainingReaders = new Map(readerCounts);
  let claimedPixels = 0;
  let cachedTextBytes = 0;

  const countStoredPixels = () => {
    const rasters = new Set([...valuesById.values()].flat().filter(isRaster));
    return [...rasters].reduce((sum, raster) => sum + countValuePixels(raster), 0);
  };
  return {
    get: (id) => valuesById.get(id),
    storeValues(id, values) {
      if ((remainingReaders.get(id) ?? 0) <= 0) return;
      const totalBytes = cachedTextBytes + sumTextBytes(values);
      checkCachedTexts(totalBytes);
      cachedTextBytes = totalBytes;
      valuesById.set(id, values);
    },
    release(id) {
      const readerCount = (remainingReaders.get(id) ?? 0) - 1;
      remainingReaders.set(id, readerCount);
      if (readerCount > 0) return;
      cachedTextBytes -= sumTextBytes(valuesById.get(id) ?? []);
      valuesById.delete(id);
    },
    claimPixels({ width, height }, frames) {
      claimedPixels += width * height * frames;
      const totalPixels = countStoredPixels() + claimedPixels;
      if (totalPixels > maxPixels) throw new NodeFailure("OOMError", describePixelLimit(totalPixels, maxPixels));
    },
    resetClaimedPixels() {
      claimedPixels = 0;
    },
    entries: () => valuesById.entries(),
  };
}

function describePixelLimit(requiredPixels: number, maxPixels: number): string {
  const formatMegapixels = (pixels: number) => `${(pixels / 1e6).toFixed(1)} megapixels`;
  return `The job needs ${formatMegapixels(requiredPixels)} at once, but this service allows ${formatMegapixels(maxPixels)}. Use smaller images or batches.`;
}
