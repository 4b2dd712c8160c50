// What a graph needs of a runner: its classes, the inputs that these require, and the values that are chosen from their lists (models).
// Two graphs that differ in texts and numbers alone need the same. If a runner lacks something, it is named.

import { own } from "@/lib/contract/json/own";
import { type InputField, type NodeLibrary } from "./definition";
import { namesOneOf } from "./file-inputs";
import { isLinkLike, unwrapLiteral } from "./link";
import { quoted } from "./literal";
import { type ParsedGraph } from "./validation/parse-prompt";

type Chosen = string | number | boolean;
/** `given` is absent for a node that does not run: its class has to exist all the same. */
export type Need = { node: string; class: string; given?: string[]; chosen?: [string, Chosen][] };
export type Needs = readonly Need[];

/**
 * `reached`: the nodes that will run. `files`: the names of the user's files among the values. Nodes with equal needs are merged under the
 * first one's name.
 */
export function neededBy(graph: ParsedGraph, reached: ReadonlySet<string>, files: ReadonlySet<string>): Needs {
  const needs = new Map<string, Need>();
  for (const { id, node, definition } of graph.values()) {
    const need: Need = { node: id, class: definition.name };
    if (reached.has(id)) {
      need.given = Object.keys(node.inputs).sort();
      need.chosen = definition.inputs.flatMap((field) =>
        field.name === definition.imageInput || namesOneOf(files, node, definition, field.name)
          ? []
          : chosenFor(field, own(node.inputs, field.name)),
      );
    }
    const key = needText([need]);
    if (!needs.has(key)) needs.set(key, need);
  }
  return [...needs.values()];
}

/** A value that is in no runner's list is not a need: the runner decides whether its class accepts the value. */
function chosenFor(field: InputField, written: unknown): [string, Chosen][] {
  if (!field.choices || field.isOpen || field.namesFile || written === undefined || isLinkLike(written)) return [];
  const value = unwrapLiteral(written);
  const isChoice = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return isChoice && field.choices.includes(value) ? [[field.name, value]] : [];
}

/** The same text for graphs that need the same, whatever their nodes' ids are. */
export function needText(needs: Needs): string {
  return needs
    .map(
      ({ class: name, given, chosen }) =>
        `${quoted(name)} ${given?.map(quoted).join() ?? ""} ${chosen?.map(([input, value]) => `${quoted(input)}=${typeof value} ${String(value)}`).join() ?? ""}`,
    )
    .sort()
    .join("\n");
}

/** What the library lacks, in words; empty if it has everything. */
export function lackingIn(library: NodeLibrary, needs: Needs): string[] {
  return needs.flatMap((need) => {
    const definition = library.get(need.class);
    if (!definition) return [`the node class ${need.class}`];
    if (!need.given) return [];
    const missing = definition.inputs.filter(({ name, optional }) => !optional && !need.given?.includes(name));
    const unknown = (need.chosen ?? []).filter(([input, value]) => {
      const field = definition.inputs.find(({ name }) => name === input);
      return field?.choices && !field.isOpen && !field.namesFile && !field.choices.includes(value);
    });
    return [
      ...missing.map(({ name }) => `an older ${need.class} without the input ${name}`),
      ...unknown.map(([input, value]) => `${String(value)} for ${input} of ${need.class}`),
    ];
  });
}

/** The weights among the chosen values: what a runner loads once and keeps. */
export function modelsOf(needs: Needs): string[] {
  const values = needs.flatMap(({ chosen = [] }) => chosen.map(([, value]) => value));
  return values
    .filter((value) => typeof value === "string")
    .filter((value) => /\.(safetensors|sft|ckpt|pt|pth|bin|gguf|onnx)$/i.test(value));
}
