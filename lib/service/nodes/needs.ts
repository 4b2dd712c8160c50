import { basename } from "node:path/posix";
import { copySpellings } from "@/lib/contract/json/exact-json";
import { asObject, getOwn } from "@/lib/contract/json/json";
import { type GraphNode } from "@/lib/contract/schemas/graph";
import { isLink } from "@/lib/contract/workflow/graph";
import { type InputField, type NodeDeclaration, type NodeLibrary, type ParsedGraph } from "./definition";
import { quote, readInputValue } from "./literal";

/** File names are never nested deeper than this in a graph. */
const MAX_DEPTH = 4;
const MAX_NAME_LENGTH = 255;
const fileNamePattern = /^[^\n\r]+\.[A-Za-z0-9]{1,12}( ?\[(input|output|temp)\])?$/;

/** Matches content hashes and job outputs, without their folder. On a runner, these may belong to another user. */
const privateNamePattern = /^(blake3:)?[0-9a-f]{64}(\.[A-Za-z0-9]{1,12})?( ?\[(input|output|temp)\])?$|\[(output|temp)\]$/;

type TextPredicate = (text: string) => boolean;

/** Whether a name that matches none of the user's files must not be looked up on a runner. */
export const isPrivateName: TextPredicate = (text) => privateNamePattern.test(basename(text.trim()));

export function findFileTexts(node: GraphNode, definition: NodeDeclaration): string[] {
  const texts = new Set<string>();
  mapFileTexts(node, definition, (text) => (texts.add(text), text));
  return [...texts];
}

export function mapFileTexts(node: GraphNode, definition: NodeDeclaration, rename: (text: string) => string): GraphNode["inputs"] {
  const inputs = Object.entries(node.inputs).map(([name, value]) => {
    const test = getFileNameTest(definition, name);
    return [name, test ? mapTexts(value, test, rename) : value] as const;
  });
  return copySpellings(node.inputs, Object.fromEntries(inputs));
}

function isFileName(files: { has(name: string): boolean }, node: GraphNode, definition: NodeDeclaration, input: string): boolean {
  const value = getOwn(node.inputs, input);
  return typeof value === "string" && files.has(value) && getFileNameTest(definition, input)?.(value) === true;
}

function getFileNameTest(definition: NodeDeclaration, input: string): TextPredicate | undefined {
  const field = definition.inputs.find(({ name }) => name === input);
  if (field?.isFileName || input === definition.imageInput) return (text) => text !== "";
  if (!definition.isForeign) return undefined;
  if (field?.choices) return (text) => text !== "" && !field.choices?.includes(text);
  return field?.options?.multiline === true ? undefined : (text) => text.length <= MAX_NAME_LENGTH && fileNamePattern.test(text);
}

function mapTexts(value: unknown, test: TextPredicate, rename: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return test(value) ? rename(value) : value;
  if (depth >= MAX_DEPTH || typeof value !== "object" || value === null) return value;
  if (isLink(value)) return value;
  if (Array.isArray(value))
    return copySpellings(
      value,
      value.map((item: unknown) => mapTexts(item, test, rename, depth + 1)),
    );
  const members = Object.entries(asObject(value) ?? {}).map(([key, member]) => [key, mapTexts(member, test, rename, depth + 1)] as const);
  return copySpellings(value, Object.fromEntries(members));
}

type ChosenValue = string | number | boolean;
/** Stored as JSON. `given` lists the input names. It is absent for a node that does not run, although its class must exist. */
// eslint-disable-next-line id-denylist -- stored jobs have this key
type Need = { node: string; class: string; given?: string[]; chosen?: [string, ChosenValue][] };
export type Needs = readonly Need[];

/** `reachableIds` are the nodes that will run, and `files` the names of the user's files. Merges equal needs. */
export function findNeeds(graph: ParsedGraph, reachableIds: ReadonlySet<string>, files: ReadonlySet<string>): Needs {
  const needs = new Map<string, Need>();
  for (const { id, node, definition } of graph.values()) {
    const need: Need = { node: id, class: definition.name };
    if (reachableIds.has(id)) {
      // eslint-disable-next-line id-denylist -- stored jobs have this key
      need.given = Object.keys(node.inputs).sort();
      need.chosen = definition.inputs.flatMap((field) =>
        field.name === definition.imageInput || isFileName(files, node, definition, field.name) ? [] : findChosenValue(field, node.inputs),
      );
    }
    const key = formatNeeds([need]);
    if (!needs.has(key)) needs.set(key, need);
  }
  return [...needs.values()];
}

/** A value that is not in the runner's list is not a need, because the runner decides whether its class accepts the value. */
function findChosenValue(field: InputField, inputs: GraphNode["inputs"]): [string, ChosenValue][] {
  if (!field.choices || field.isOpen || field.isFileName) return [];
  const { value } = readInputValue(inputs, field.name);
  const isChoice = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return isChoice && field.choices.includes(value) ? [[field.name, value]] : [];
}

export function formatNeeds(needs: Needs): string {
  return needs
    .map(
      ({ class: name, given: inputs, chosen }) =>
        `${quote(name)} ${inputs?.map(quote).join() ?? ""} ${chosen?.map(([input, value]) => `${quote(input)}=${typeof value} ${String(value)}`).join() ?? ""}`,
    )
    .sort()
    .join("\n");
}

export function findMissingNeeds(library: NodeLibrary, needs: Needs): string[] {
  return needs.flatMap((need) => {
    const definition = library.get(need.class);
    if (!definition) return [`the node class ${need.class}`];
    if (!need.given) return [];
    const missingInputs = definition.inputs.filter(({ name, optional }) => !optional && !need.given?.includes(name));
    const unknownValues = (need.chosen ?? []).filter(([input, value]) => {
      const field = definition.inputs.find(({ name }) => name === input);
      return field?.choices && !field.isOpen && !field.isFileName && !field.choices.includes(value);
    });
    return [
      ...missingInputs.map(({ name }) => `an older ${need.class} without the input ${name}`),
      ...unknownValues.map(([input, value]) => `${String(value)} for ${input} of ${need.class}`),
    ];
  });
}

/** Returns the model files among the chosen values. A runner keeps loaded models in memory. */
export function findModels(needs: Needs): string[] {
  const values = needs.flatMap(({ chosen = [] }) => chosen.map(([, value]) => value));
  return values
    .filter((value) => typeof value === "string")
    .filter((value) => /\.(safetensors|sft|ckpt|pt|pth|bin|gguf|onnx)$/i.test(value));
}
