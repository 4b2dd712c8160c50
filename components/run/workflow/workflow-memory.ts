// What a person set for one workflow in this browser: which inputs are first, and which seeds change with every run.
// Guarantees: never throws; bounded, the workflows used least recently go first. Must never: hold a value, only names of inputs.

import { persisted } from "@/lib/browser/persisted";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject } from "@/lib/contract/json/json";

const MOST_WORKFLOWS = 200;
const MOST_INPUTS = 200;

export type WorkflowMemory = { pinned: readonly string[]; randomised: readonly string[] };
type Kept = readonly (readonly [id: string, memory: Partial<Record<keyof WorkflowMemory, unknown>>])[];
const workflows = persisted("lightdesk.run.workflows", readKept);

export function inputKey(nodeId: string, name: string): string {
  return writeExactJson([nodeId, name]);
}

export function readMemory(workflowId: string): WorkflowMemory {
  const found = workflows.get().find(([id]) => id === workflowId)?.[1];
  return { pinned: textsOf(found?.pinned), randomised: textsOf(found?.randomised) };
}

export function keepMemory(workflowId: string, memory: WorkflowMemory): void {
  const others = workflows.get().filter(([id]) => id !== workflowId);
  const isEmpty = memory.pinned.length + memory.randomised.length === 0;
  const all = isEmpty ? others : [...others, [workflowId, memory] as const];
  workflows.set(all.slice(-MOST_WORKFLOWS));
}

export function toggled(list: readonly string[], item: string): string[] {
  return list.includes(item) ? list.filter((other) => other !== item) : [...list, item].slice(-MOST_INPUTS);
}

function readKept(kept: unknown): Kept {
  if (!Array.isArray(kept)) return [];
  return kept.flatMap((entry: unknown): Kept => {
    const [id, memory]: unknown[] = Array.isArray(entry) ? entry : [];
    return typeof id === "string" && isObject(memory) ? [[id, memory]] : [];
  });
}

function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item): item is string => typeof item === "string").slice(0, MOST_INPUTS) : [];
}
