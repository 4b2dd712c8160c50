// What a person set for one workflow in this browser: which inputs are pinned, and which seeds change with every run.
// Guarantees: never throws; bounded, the least recently used workflows are dropped first. Must never: hold a value, only names of inputs.

import { persisted } from "@/lib/browser/persisted";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { anyText, list, object, or, type Reader } from "@/lib/contract/json/readers";

const MOST_WORKFLOWS = 200;
const MOST_INPUTS = 200;

export type WorkflowMemory = { pinned: readonly string[]; randomised: readonly string[] };
type Entry = readonly [id: string, memory: WorkflowMemory];

const inputs = or(list(anyText, MOST_INPUTS), []);
const memory = object({ pinned: inputs, randomised: inputs });
const entry: Reader<Entry> = (kept) => {
  const [id, its]: unknown[] = Array.isArray(kept) ? kept : [];
  const read = memory(its);
  return typeof id === "string" && read ? [id, read] : undefined;
};
const workflows = persisted("lightdesk.run.workflows", or(list(entry), []));

export function inputKey(nodeId: string, name: string): string {
  return writeExactJson([nodeId, name]);
}

export function readMemory(workflowId: string): WorkflowMemory {
  return workflows.get().find(([id]) => id === workflowId)?.[1] ?? { pinned: [], randomised: [] };
}

export function keepMemory(workflowId: string, memory: WorkflowMemory): void {
  const others = workflows.get().filter(([id]) => id !== workflowId);
  const isEmpty = memory.pinned.length + memory.randomised.length === 0;
  const all: Entry[] = isEmpty ? others : [...others, [workflowId, memory]];
  workflows.set(all.slice(-MOST_WORKFLOWS));
}

export function toggled(list: readonly string[], item: string): string[] {
  return list.includes(item) ? list.filter((other) => other !== item) : [...list, item].slice(-MOST_INPUTS);
}
