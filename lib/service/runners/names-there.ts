// At a runner, files are named by their hashes: a graph is sent with those names, and what the runner reports is shown with the user's
// names.

import { isObject } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type NodeLibrary } from "../nodes/definition";
import { mapFileTexts } from "../nodes/file-inputs";
import { bareName, type Input, nameThere } from "./transfer";

/** The user's file names by their names at the runner, both without annotations. */
export function userNames(inputs: readonly Input[]): Map<string, string> {
  return new Map(inputs.map((input) => [nameThere(input), bareName(input.name)]));
}

/** `names`: the user's names, by the names at the runner. */
export function asKnown<T>(value: T, names: ReadonlyMap<string, string>): T {
  const rename = (text: string) => [...names].reduce((renamed, [there, name]) => renamed.replaceAll(there, () => name), text);
  const walk = (one: unknown): unknown =>
    typeof one === "string"
      ? rename(one)
      : Array.isArray(one)
        ? one.map(walk)
        : isObject(one)
          ? Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, walk(inner)]))
          : one;
  return names.size === 0 ? value : (walk(value) as T); // the same shape with other texts
}

/** `called`: the names at the runner, by the user's names. */
export function withNames(graph: Graph, library: NodeLibrary, called: ReadonlyMap<string, string>): Graph {
  if (called.size === 0) return graph;
  return Object.fromEntries(
    Object.entries(graph).map(([id, node]) => {
      const definition = library.get(node.class_type);
      const rename = (text: string) => called.get(text) ?? text;
      return [id, definition ? { ...node, inputs: mapFileTexts(node, definition, rename) } : node];
    }),
  );
}
