// Inputs of a job's nodes as columns of a list and of a saved file: `input:<node>:<input>`, where `*Class` stands for the first node of a
// class that has the input. Free of zod: browsers load it with the first page.

import { type JsonObject } from "../json/json";
import { looseGraph } from "../workflow/loose-graph";

export type InputId = `input:${string}:${string}`;
export const MAX_INPUTS = 8;
const CLASS_MARK = "*";
const MAX_VALUE = 200;
const idPattern = /^input:(?:[\w.!~*'()-]|%[0-9A-F]{2}){1,300}:(?:[\w.!~*'()-]|%[0-9A-F]{2}){1,300}$/;

export function inputIdOf(node: string, input: string): InputId {
  return `input:${encodeURIComponent(node)}:${encodeURIComponent(input)}`;
}

export function readInputId(text: unknown): InputId | undefined {
  return typeof text === "string" && isInputId(text) && decodes(text) ? text : undefined;
}

/** From an address: several, joined by commas. */
export function readInputIds(text: string): InputId[] {
  return [...new Set(text.split(",").flatMap((id) => readInputId(id) ?? []))].slice(0, MAX_INPUTS);
}

export function inputOf(id: InputId): { node: string; input: string; name: string } {
  const [, node = "", input = ""] = id.split(":").map(decodeURIComponent);
  return { node, input, name: `${node.startsWith(CLASS_MARK) ? node.slice(CLASS_MARK.length) : node}.${input}` };
}

/** By node and input; linked and structured values are absent. */
export type JobInputs = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Values of a job's graph, by node id and by class, shortened so that many rows stay small. */
export function toInputs(workflow: JsonObject | undefined): JobInputs {
  const found = new Map<string, Map<string, string>>();
  for (const [id, node] of Object.entries(looseGraph(workflow) ?? {})) {
    for (const [name, value] of Object.entries(node.inputs ?? {})) {
      if (!["string", "number", "bigint", "boolean"].includes(typeof value)) continue;
      const text = String(value).slice(0, MAX_VALUE);
      for (const key of [id, ...(node.class_type === undefined ? [] : [CLASS_MARK + node.class_type])]) {
        const values = found.get(key) ?? new Map<string, string>();
        found.set(key, values);
        if (!values.has(name)) values.set(name, text);
      }
    }
  }
  return found;
}

export type SeenInput = { id: InputId; name: string; jobs: number; example: string };

/** The inputs by class that these jobs have, the most frequent first. */
export function seenInputs(jobs: readonly JobInputs[]): SeenInput[] {
  const seen = new Map<InputId, SeenInput>();
  for (const job of jobs) {
    for (const [node, values] of job) {
      if (!node.startsWith(CLASS_MARK)) continue;
      for (const [input, example] of values) {
        const id = inputIdOf(node, input);
        const known = seen.get(id) ?? { id, name: inputOf(id).name, jobs: 0, example };
        seen.set(id, { ...known, jobs: known.jobs + 1 });
      }
    }
  }
  return [...seen.values()].sort((one, other) => other.jobs - one.jobs || one.name.localeCompare(other.name));
}

function isInputId(text: string): text is InputId {
  return idPattern.test(text);
}

function decodes(text: string): boolean {
  try {
    return decodeURIComponent(text) !== "";
  } catch {
    return false;
  }
}
