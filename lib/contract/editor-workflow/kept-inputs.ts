// Inputs of a graph that the editor's format has no place for, kept beside their node: a value on a socket, a link to nothing, a number for
// an input that the class does not declare. The editor carries them along unread.
// Guarantees: one counts only while the file reads as it did when it was kept, so it never overwrites a later change.

import { writeExactJson } from "../json/exact-json";
import { type JsonObject } from "../json/json";
import { anything, map, object } from "../json/readers";
import { type EditorNode } from "./file";

const PROPERTY = "lightdesk";
const read = object({}, { inputs: map(object({ is: anything }, { reads: anything })) });

/** `is`: the input itself; `reads`: the value that the file gives for it. */
export type KeptInput = { is?: unknown; reads?: unknown };

export function keptInputs({ properties }: Pick<EditorNode, "properties">): Readonly<Record<string, KeptInput>> {
  return read(properties[PROPERTY])?.inputs ?? {};
}

/** The node was written from a graph, so it is sent even if its class is unknown. */
export function isKept({ properties }: Pick<EditorNode, "properties">): boolean {
  return Object.hasOwn(properties, PROPERTY);
}

export function keeping(inputs: Readonly<Record<string, KeptInput>>): JsonObject {
  return { [PROPERTY]: { inputs } };
}

export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one === other || writeExactJson(one) === writeExactJson(other);
}
