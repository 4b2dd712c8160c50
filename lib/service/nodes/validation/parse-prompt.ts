// Parses a prompt into nodes. Rejects a node without a class, or with one that no runner has.

import { type GraphNode, graphNodeSchema } from "@/lib/contract/schemas/graph";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type NodeDeclaration, type NodeLibrary } from "../definition";

/** The error that refuses a whole prompt, in the shape that POST /api/prompt answers. */
export type PromptError = { type: string; message: string; details: string; extra_info: Record<string, unknown> };

export type ParsedNode = { id: string; node: GraphNode; definition: NodeDeclaration };

/** By id, in graph order. */
export type ParsedGraph = ReadonlyMap<string, ParsedNode>;

export function parsePrompt(prompt: Record<string, unknown>, library: NodeLibrary): Result<ParsedGraph, PromptError> {
  const entries = Object.entries(prompt);
  if (Array.isArray(prompt.nodes)) {
    return failed(invalid("This is a workflow in the editor's format. Export it in the API format and send that.", "nodes"));
  }
  const parsed = new Map<string, ParsedNode>();
  const missing: { node_id: string; class_type: string }[] = [];
  for (const [id, value] of entries) {
    if (isWithoutClass(value)) return failed(withoutClass(id, value));
    const shape = graphNodeSchema.safeParse(value);
    if (!shape.success) return failed(invalid(`Node '${id}' ${shapeProblem(value)}.`, `Node ID '#${id}'`, { node_id: id }));
    const definition = library.get(shape.data.class_type);
    if (definition) parsed.set(id, { id, node: shape.data, definition });
    else missing.push({ node_id: id, class_type: shape.data.class_type });
  }
  const first = missing[0];
  return first ? failed(missingClass(first, missing, prompt[first.node_id])) : ok(parsed);
}

function shapeProblem(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "is not an object";
  return "has inputs or a title in a shape that cannot be read";
}

function invalid(message: string, details: string, extra: Record<string, unknown> = {}): PromptError {
  return { type: "invalid_prompt", message, details, extra_info: extra };
}

type Unclassed = { class_type?: unknown; _meta?: unknown };

function isWithoutClass(value: unknown): value is Unclassed {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !("class_type" in value) || typeof value.class_type !== "string";
}

function withoutClass(id: string, value: Unclassed): PromptError {
  const title = graphNodeSchema.safeParse({ ...value, class_type: "" }).data?._meta?.title ?? null;
  return {
    type: "missing_node_type",
    message: `Node '${title ?? `ID #${id}`}' has no class_type. The graph is damaged, or was not exported in the API format.`,
    details: `Node ID '#${id}'`,
    extra_info: { node_id: id, class_type: null, node_title: title },
  };
}

type Missing = { node_id: string; class_type: string };

function missingClass(first: Missing, all: readonly Missing[], value: unknown): PromptError {
  const title = graphNodeSchema.safeParse(value).data?._meta?.title;
  return {
    type: "missing_node_type",
    message: `Node '${title ?? first.class_type}' not found. The service has no node class '${first.class_type}'.`,
    details: `Node ID '#${first.node_id}'`,
    extra_info: { ...first, node_title: title ?? first.class_type, missing_nodes: all.slice(0, 100) },
  };
}
