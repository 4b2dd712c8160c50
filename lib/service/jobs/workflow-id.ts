// Which workflow a run belongs to: the id that the editor gave it, else a UUIDv5 of the graph's shape.
// The shape is node ids, classes and links without literals, so runs with another seed or text stay together.

import { createHash } from "node:crypto";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject } from "@/lib/contract/json/json";
import { own } from "@/lib/contract/json/own";
import { isLink } from "@/lib/contract/workflow/graph";
import { toUuid } from "@/lib/shared/text";

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

function uuidOf(name: string): string {
  return toUuid(createHash("sha1").update(NAMESPACE).update(name).digest("hex"), 5);
}

function field(value: unknown, name: string): unknown {
  return isObject(value) ? own(value, name) : undefined;
}
