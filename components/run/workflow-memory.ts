// What a person set for one workflow in this browser: which inputs stand first, and which seeds change with every run.
// Guarantees: never throws; bounded, the workflows used least recently go first. Must never: hold a value, only names of inputs.

import { writeExactJson } from "@/lib/contract/exact-json";
import { isObject, objectOf, parseJson } from "@/lib/contract/json";

const KEY = "lightdesk.run.workflows";
const MOST_WORKFLOWS = 200;
const MOST_INPUTS = 200;

export type WorkflowMemory = { pinned: readonly string[]; randomised: readonly string[] };
export type MemoryStorage = () => Pick<Storage, "getItem" | "setItem">;
export const browserStorage: MemoryStorage = () => window.localStorage;

export function inputKey(nodeId: string, name: string): string {
  return writeExactJson([nodeId, name]);
}

export function readMemory(storage: MemoryStorage, workflowId: string): WorkflowMemory {
  const found = allIn(storage).find(([id]) => id === workflowId)?.[1];
  return { pinned: textsOf(found?.pinned), randomised: textsOf(found?.randomised) };
}

export function keepMemory(storage: MemoryStorage, workflowId: string, memory: WorkflowMemory): void {
  const others = allIn(storage).filter(([id]) => id !== workflowId);
  const isEmpty = memory.pinned.length + memory.randomised.length === 0;
  const all = isEmpty ? others : [...others, [workflowId, memory] as const];
  try {
    storage().setItem(KEY, writeExactJson(all.slice(-MOST_WORKFLOWS)));
  } catch {
    // Full or forbidden: it holds until the page goes.
  }
}

export function toggled(list: readonly string[], item: string): string[] {
  return list.includes(item) ? list.filter((other) => other !== item) : [...list, item].slice(-MOST_INPUTS);
}

function allIn(storage: MemoryStorage): [string, Record<string, unknown>][] {
  try {
    const kept = parseJson(storage().getItem(KEY) ?? "");
    if (!Array.isArray(kept)) return [];
    return kept.flatMap((entry: unknown): [string, Record<string, unknown>][] => {
      const [id, memory]: unknown[] = Array.isArray(entry) ? entry : [];
      return typeof id === "string" && isObject(memory) ? [[id, objectOf(memory) ?? {}]] : [];
    });
  } catch {
    return [];
  }
}

function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item): item is string => typeof item === "string").slice(0, MOST_INPUTS) : [];
}
