// Which workflow a run belongs to: the id that the editor gave it, else a UUIDv5 of the graph's shape.
// The shape is node ids, classes and links without literals, so runs with another seed or text stay together.

import { createHash } from "node:crypto";
import { writeExactJson } from "@/lib/contract/json/exact-json";

const NAMESPACE = Buffer.from("6f1c2b0a8d5e4f7b9a3c1e2d4b6a8c0e", "hex");
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function workflowIdOf(graph: Record<string, unknown>, extraData: Record<string, unknown>): string {
  const id = field(field(field(extraData, "extra_pnginfo"), "workflow"), "id");
  return typeof id === "string" && uuid.test(id) ? id.toLowerCase() : uuidOf(shapeOf(graph));
}

function shapeOf(graph: Record<string, unknown>): string {
  const nodes = Object.keys(graph)
    .sort()
    .map((nodeId) => {
      const inputs = field(graph[nodeId], "inputs");
      const links =
        typeof inputs === "object" && inputs !== null
          ? Object.entries(inputs)
              .filter(([, value]) => isLink(value))
              .sort(([a], [b]) => (a < b ? -1 : 1))
          : [];
      return [nodeId, field(graph[nodeId], "class_type"), links];
    });
  return writeExactJson(nodes);
}

/** RFC 9562, version 5. */
function uuidOf(name: string): string {
  const bytes = createHash("sha1").update(NAMESPACE).update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

function isLink(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === "string" && typeof value[1] === "number";
}

/** Reads own properties only; called for every node of every submission. */
function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined;
}
