// Which strings in a graph may name a user's file. Built-in classes declare these inputs. For classes that only runners have, any string
// may: a loader's list is the runner's, and custom loaders accept plain strings.

import { withSpellingsOf } from "@/lib/contract/json/exact-json";
import { objectOf } from "@/lib/contract/json/json";
import { own } from "@/lib/contract/json/own";
import { type GraphNode } from "@/lib/contract/schemas/graph";
import { type NodeDeclaration } from "./definition";
import { toLink } from "./link";

/** A graph's own values nest less deep. Anything deeper is never a file name. */
const MAX_DEPTH = 4;
const MAX_NAME_LENGTH = 255;
const fileName = /^[^\n\r]+\.[A-Za-z0-9]{1,12}( ?\[(input|output|temp)\])?$/;

/** Content by its hash, and job outputs: on a runner these may belong to another user. */
const privateName = /^(blake3:)?[0-9a-f]{64}(\.[A-Za-z0-9]{1,12})?( ?\[(input|output|temp)\])?$|\[(output|temp)\]$/;

type Test = (text: string) => boolean;

/** Whether a name that matches none of the user's files must not be looked up on a runner. */
export const isPrivateName: Test = (text) => privateName.test(text.trim());

/** The strings of a node that may name a file, in no order. */
export function fileTexts(node: GraphNode, definition: NodeDeclaration): string[] {
  const found = new Set<string>();
  mapFileTexts(node, definition, (text) => (found.add(text), text));
  return [...found];
}

/** The inputs with those strings replaced. */
export function mapFileTexts(node: GraphNode, definition: NodeDeclaration, rename: (text: string) => string): GraphNode["inputs"] {
  const inputs = Object.entries(node.inputs).map(([name, value]) => {
    const test = testFor(definition, name);
    return [name, test ? mapTexts(value, test, rename) : value] as const;
  });
  return withSpellingsOf(node.inputs, Object.fromEntries(inputs));
}

/** Whether an input's whole value is the name of one of these files. */
export function namesOneOf(files: { has(name: string): boolean }, node: GraphNode, definition: NodeDeclaration, input: string): boolean {
  const value = own(node.inputs, input);
  return typeof value === "string" && files.has(value) && testFor(definition, input)?.(value) === true;
}

function testFor(definition: NodeDeclaration, input: string): Test | undefined {
  const field = definition.inputs.find(({ name }) => name === input);
  if (field?.namesFile || input === definition.imageInput) return (text) => text !== "";
  if (!definition.isForeign) return undefined;
  if (field?.choices) return (text) => text !== "" && !field.choices?.includes(text);
  return field?.options?.multiline === true ? undefined : (text) => text.length <= MAX_NAME_LENGTH && fileName.test(text);
}

function mapTexts(value: unknown, test: Test, rename: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return test(value) ? rename(value) : value;
  if (depth >= MAX_DEPTH || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value) && toLink(value)) return value;
  if (Array.isArray(value))
    return withSpellingsOf(
      value,
      value.map((one: unknown) => mapTexts(one, test, rename, depth + 1)),
    );
  const members = Object.entries(objectOf(value) ?? {}).map(([key, one]) => [key, mapTexts(one, test, rename, depth + 1)] as const);
  return withSpellingsOf(value, Object.fromEntries(members));
}
