// A job's graph as a service stored it, whatever is in it: for display, never for sending (read-workflow.ts reads what is sent).
// Guarantees: never throws; entries that are not nodes are left out. Free of zod: browsers load it with the first page.

import { anything, map, object, type ReadBy, text } from "../json/readers";

const node = object({}, { class_type: text, inputs: map(anything), _meta: object({}, { title: text }) });
export type LooseNode = ReadBy<typeof node>;
const nodes = map(node);
const wrapper = object({ prompt: nodes });

/** `workflow`: `{ prompt, extra_data }` or a bare graph. Undefined if it is neither. */
export function looseGraph(workflow: unknown): Readonly<Record<string, LooseNode>> | undefined {
  return wrapper(workflow)?.prompt ?? nodes(workflow);
}

type Named = { class_type?: string; _meta?: { title?: string | null } | null };

/** Its title, else the catalogue's name for its class if known, else the class; empty if it has neither. */
export function nodeName(node: Named | undefined, catalogueName?: string | null): string {
  return node?._meta?.title?.trim() || catalogueName?.trim() || node?.class_type || "";
}
