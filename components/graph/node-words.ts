import { writeExactJson } from "@/lib/contract/json/exact-json";
import { nodeName } from "@/lib/contract/workflow/loose-graph";
import { isLink, linksOf } from "@/lib/contract/workflow/graph";
import { MASK } from "@/lib/contract/secrets/secret-texts";
import { type Graph, type GraphNode } from "@/lib/contract/schemas/graph";

/** What each is called, as their titles: a drawing beside a form calls its nodes as the form does. */
export function withTitles(graph: Graph, nameOfClass: (className: string) => string | null | undefined): Graph {
  return Object.fromEntries(
    Object.entries(graph).map(([id, node]) => [id, { ...node, _meta: { title: nodeName(node, nameOfClass(node.class_type)) } }]),
  );
}

/** The one literal that tells most in a single line: the first text, else the first number with its name. A mask tells nothing. */
export function gistOf(node: GraphNode): string | undefined {
  const literals = Object.entries(node.inputs).filter(
    ([, value]) => !isLink(value) && !(typeof value === "string" && value.includes(MASK)),
  );
  const text = literals.find(([, value]) => typeof value === "string" && /\S/.test(value));
  if (typeof text?.[1] === "string") return text[1].slice(0, 200).trim().slice(0, 80);
  const number = literals.find(([, value]) => typeof value === "number" || typeof value === "bigint");
  return number && `${number[0]} ${String(number[1])}`;
}

/** Values in one line each; a mask tells nothing. */
export function literalsOf({ inputs }: GraphNode): [name: string, text: string][] {
  return Object.entries(inputs).flatMap(([name, value]): [string, string][] => {
    const text = typeof value === "string" ? value.slice(0, 80) : writeExactJson(value).slice(0, 80);
    return isLink(value) || text.includes(MASK) ? [] : [[name, text]];
  });
}

/** In the graph's own order; by id, class or title, in any case. An id that is exactly it comes first. */
export function searchNodes(graph: Graph, words: string): string[] {
  const wanted = words.trim().toLowerCase().replace(/^#/, "");
  if (wanted === "") return [];
  const found = Object.entries(graph).flatMap(([id, node]) =>
    [id, node.class_type, nodeName(node)].some((text) => text.toLowerCase().includes(wanted)) ? [id] : [],
  );
  return Object.hasOwn(graph, wanted) ? [wanted, ...found.filter((id) => id !== wanted)] : found;
}

export type NodeInput = { name: string } & (
  { kind: "link"; source: string; output: number; isDangling: boolean } | { kind: "literal"; text: string; isMasked: boolean }
);

export function inputsOf(graph: Graph, node: GraphNode): NodeInput[] {
  return Object.entries(node.inputs).map(([name, value]) => {
    if (isLink(value)) return { name, kind: "link", source: value[0], output: value[1], isDangling: !Object.hasOwn(graph, value[0]) };
    const text = typeof value === "string" ? value : writeExactJson(value, 2);
    return { name, kind: "literal", text, isMasked: text.includes(MASK) };
  });
}

/** Ids of the nodes that take something from this one, each once. */
export function takersOf(graph: Graph, id: string): string[] {
  return Object.entries(graph).flatMap(([taker, node]) => (linksOf(node).some(({ source }) => source === id) ? [taker] : []));
}
