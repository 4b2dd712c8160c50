// At a runner, files are named by their hashes: a graph is sent with those names, and what the runner reports is shown with the user's
// names.

import { isObject } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type NodeLibrary } from "../nodes/definition";

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
      const inputs = Object.entries(node.inputs).map(([name, value]) => {
        const isFile = definition?.imageInput === name || definition?.inputs.some((field) => field.name === name && field.namesFile);
        return [name, isFile && typeof value === "string" ? (called.get(value) ?? value) : value];
      });
      return [id, { ...node, inputs: Object.fromEntries(inputs) }];
    }),
  );
}
