// A name for what a node will put out, made of its class and everything it reads: literals, the contents behind image names,
// and the names of the nodes it is linked to. What must run every time, and all behind it, has none.
// The same work has the same name in every worker and after a restart; a name is a safe file name.

import { createHash } from "node:crypto";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { inputOf, unwrapLiteral } from "./link";
import { readLiteral } from "./literal";
import { type PlannedNode } from "./plan";
import { type RunRequest } from "./run";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { readKernel } from "@/lib/service/images/lanczos";

/** In a worker: of the bundle that holds all nodes, of the kernel beside it, and of the library that decodes and encodes for them. */
const generation = createHash("sha256")
  .update(readFileSync(fileURLToPath(import.meta.url)))
  .update(readKernel())
  .update(writeExactJson(sharp.versions))
  .digest("hex");

/** Empty where the request names no cache. The order must be that of the plan. */
export function createCacheKeys(order: readonly PlannedNode[], request: RunRequest): Map<string, string> {
  const keys = new Map<string, string>();
  if (request.cacheDir === undefined) return keys;
  // Files carry the graph: with another graph they are other files.
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
  const written = inputOf(node.inputs, name);
  if (written === undefined) return ["absent"];
  const literal = readLiteral(type, unwrapLiteral(written));
  const value = literal.ok ? literal.value : written;
  if (name !== definition.imageInput || typeof value !== "string") return ["literal", value];
  // A file that is not there is found out by the node that reads it.
  return ["file", Object.hasOwn(request.images, value) ? request.images[value]?.hash : undefined];
}

function digest(value: unknown): string {
  return createHash("sha256").update(writeExactJson(value)).digest("hex");
}
