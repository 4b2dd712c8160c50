// Values out of a job's graph: asked for one job at a time, at most a few at once, kept small.

import { callApi } from "@/lib/browser/api";
import { looseGraph } from "@/lib/contract/workflow/loose-graph";

const LONGEST_VALUE = 200;
const AT_ONCE = 4;

/** By node and input; what is wired or not plain is absent. */
export type JobInputs = Readonly<Record<string, Readonly<Record<string, string>>>>;

let underWay = 0;
const waiting: (() => void)[] = [];

export async function readInputs(path: `/${string}`): Promise<JobInputs> {
  if (underWay >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  underWay += 1;
  try {
    const result = await callApi<{ workflow?: unknown }>(path);
    if (!result.ok) throw result.failure;
    return toInputs(result.value.workflow);
  } finally {
    underWay -= 1;
    waiting.shift()?.();
  }
}

export function toInputs(workflow: unknown): JobInputs {
  const found: Record<string, Record<string, string>> = Object.create(null);
  for (const [id, node] of Object.entries(looseGraph(workflow) ?? {})) {
    if (!node.inputs) continue;
    const values: Record<string, string> = Object.create(null);
    for (const [name, value] of Object.entries(node.inputs)) {
      if (["string", "number", "bigint", "boolean"].includes(typeof value)) values[name] = String(value).slice(0, LONGEST_VALUE);
    }
    found[id] = values;
  }
  return found;
}
