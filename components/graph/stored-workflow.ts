// A workflow as it is stored: the bare graph, which every program of the family opens, or together with the data that came with it.
// Guarantees: readWorkflow gives the same graph back; digits of whole numbers are kept. Must never: store a partner's key.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type JsonObject } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { unwrapWorkflow } from "@/lib/contract/workflow/read-workflow";

export const WORKFLOWS = "workflows/";
const MAX_NAME_LENGTH = 200;

export function storedText(graph: Graph, extraData: JsonObject | undefined): string {
  const hasMore = extraData !== undefined && Object.keys(extraData).length > 0;
  return writeExactJson(hasMore ? { prompt: graph, extra_data: extraData } : graph, 2);
}

/** From a job's `workflow`; undefined where it holds no graph. */
export function storedTextOfJob(workflow: unknown): string | undefined {
  const read = unwrapWorkflow(workflow);
  return read && storedText(read.graph, read.extraData);
}

/** The path for a name: always a JSON file below workflows/; undefined if it is no valid name. */
export function storedPath(name: string): string | undefined {
  const trimmed = name
    .trim()
    .replace(/^\/+/, "")
    .replace(/\.json$/i, "");
  const parts = trimmed.split("/");
  const isOdd =
    parts.some((part) => part.trim() === "" || /^\.+$/.test(part)) || /[\\\p{Cc}]/u.test(trimmed) || trimmed.length > MAX_NAME_LENGTH;
  return isOdd ? undefined : `${WORKFLOWS}${trimmed}.json`;
}

/** The name that gives this path; undefined if no name does. */
export function nameOfStored(path: string | undefined): string | undefined {
  if (!path?.startsWith(WORKFLOWS)) return undefined;
  const name = path.slice(WORKFLOWS.length).replace(/\.json$/, "");
  return storedPath(name) === path ? name : undefined;
}

/** A valid file name from the workflow's title: replaces only what some file system or address cannot hold. */
export function fileNameOf(title: string): string {
  return cutToBytes(title, MAX_NAME_LENGTH)
    .replace(/[/\\:*?"<>|\p{Cc}\p{Cs}]/gu, "_")
    .replace(/^\.+/, "_");
}

/** File systems count bytes, and most scripts need several per letter. */
function cutToBytes(text: string, most: number): string {
  const bytes = new TextEncoder().encode(text);
  return bytes.length <= most ? text : new TextDecoder().decode(bytes.subarray(0, most)).replace(/\uFFFD+$/, "");
}
