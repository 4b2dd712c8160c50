// Inputs of a graph that the editor's format has no place for, kept beside the node that has them: a value on a socket, a link to nothing, a
// number for an input that the class does not declare. The editor carries them along without looking.
// Guarantees: one counts only while the file reads as it did when it was kept, so that it never comes back over what was changed since.

import { writeExactJson } from "../json/exact-json";
import { type JsonObject } from "../json/json";
import { anything, map, object } from "../json/readers";
import { type EditorNode } from "./file";

const PROPERTY = "lightdesk";
const read = object({}, { inputs: map(object({ is: anything }, { reads: anything })) });

/** `is`: the input itself; `reads`: what the file says in its place. */
export type KeptInput = { is?: unknown; reads?: unknown };

export function keptInputs({ properties }: Pick<EditorNode, "properties">): Readonly<Record<string, KeptInput>> {
  return read(properties[PROPERTY])?.inputs ?? {};
}

export function keeping(inputs: Readonly<Record<string, KeptInput>>): JsonObject {
  return { [PROPERTY]: { inputs } };
}

export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one === other || writeExactJson(one) === writeExactJson(other);
}
