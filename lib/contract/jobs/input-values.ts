// The values of jobs' node inputs.

import { type JsonObject } from "../json/json";
import { looseGraph } from "../workflow/loose-graph";
import { CLASS_MARK, type InputId, inputIdOf, inputOf } from "./job-inputs";

const MAX_VALUE = 200;

/** By node and input. Linked and structured values are absent. */
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

/** The inputs of these jobs by class, most frequent first. */
export function seenInputs(jobs: readonly JobInputs[]): SeenInput[] {
  const seen = new Map<InputId, SeenInput>();
  for (const job of jobs) {
    for (const [node, values] of job) {
      if (!node.startsWith(CLASS_MARK)) continue;
      for (const [input, example] of values) {
        const id = inputIdOf(node, input);
        const entry = seen.get(id) ?? { id, name: inputOf(id).name, jobs: 0, example };
        seen.set(id, { ...entry, jobs: entry.jobs + 1 });
      }
    }
  }
  return [...seen.values()].sort((one, other) => other.jobs - one.jobs || one.name.localeCompare(other.name));
}
