// Where a node is while a file is read: a definition may be used many times, and each use of it is sent with ids of its own.

import { type ObjectInfo } from "../schemas/object-info";
import { type Definition, type EditorNode, type Net } from "./file";

/** A net as one use of it has it; `use`: the node outside that contains it. */
export type Scope = { path: string; net: Net; use?: Use };
export type Place = { scope: Scope; node: EditorNode };
export type Use = Place & { definition: Definition };

/** One conversion of a file. What is found on the way is kept for as long as it lasts: a file may lead to one node in very many ways. */
export type Following = {
  info: ObjectInfo;
  /** The inside of a use; undefined for a node that is not a use. */
  inside: (place: Place) => { scope: Scope; definition: Definition; use: EditorNode } | undefined;
  /** The value that a PrimitiveNode writes over the widgets it leads to. */
  primitiveValue: (node: EditorNode) => unknown;
};

/** The node's id in the graph. */
export function idIn({ path }: Scope, { id }: EditorNode): string {
  return path + id;
}
