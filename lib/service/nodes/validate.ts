// What is checked before a graph is queued, and what is accepted. Only nodes that an output reaches are checked. An output is good if
// nothing that it reaches has an error; one good output is enough, and the errors of the others are reported in nodeErrors.
// Nothing recurses and the work is bounded, so that no graph holds up the service.

import { withSpellingsOf } from "@/lib/contract/json/exact-json";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { classes } from "./classes";
import { type NodeLibrary } from "./definition";
import { fileTexts, neededBy, type Needs } from "./needs";
import { type CheckedNode, checkInputs, type Files } from "./validation/check-inputs";
import { collectErrors, findCycles, reach } from "./validation/collect-errors";
import { type ParsedGraph, parsePrompt, type PromptError } from "./validation/parse-prompt";

export type Validation =
  | { ok: true; graph: Graph; outputs: string[]; nodeErrors: NodeErrors; images: string[]; needs: Needs }
  | { ok: false; error: PromptError; nodeErrors: NodeErrors };

/** `images`: the names that the nodes behind the good outputs load. `graph`: with literals in the form that nodes want. */
export function validatePrompt(
  prompt: Record<string, unknown>,
  { targets, files, library = classes }: { targets?: readonly string[]; files: Files; library?: NodeLibrary },
): Validation {
  const parsed = parsePrompt(prompt, library);
  if (!parsed.ok) return { ok: false, error: parsed.failure, nodeErrors: {} };
  const graph = parsed.value;
  const wanted = targets && new Set(targets);
  const outputs = [...graph.values()].filter(({ id, definition }) => definition.isOutput && (wanted?.has(id) ?? true)).map(({ id }) => id);
  if (outputs.length === 0) return { ok: false, error: noOutputs(), nodeErrors: {} };

  const checked = checkReached(graph, outputs, files);
  const sourcesOf = (id: string) => checked.get(id)?.sources ?? [];
  const cycles = findCycles([...checked.keys()], sourcesOf);
  const { nodeErrors, lines, badOutputs } = collectErrors({ graph, checked, cycles, outputs });
  const good = outputs.filter((id) => !badOutputs.has(id));
  if (good.length === 0) return { ok: false, error: allFailed(lines), nodeErrors };

  const reached = reach(good, sourcesOf);
  const images = [...reached].flatMap((id) => checked.get(id)?.fileNames ?? []);
  const needs = neededBy(graph, reached, new Set(images));
  return { ok: true, graph: toGraph(graph, checked), outputs: good, nodeErrors, images: [...new Set(images)], needs };
}

/** Every file name in the inputs, also of nodes that are not checked: all names are looked up together, before anything is checked. */
export function fileNamesIn(prompt: Record<string, unknown>, library: NodeLibrary): string[] {
  const parsed = parsePrompt(prompt, library);
  if (!parsed.ok) return [];
  return [...new Set([...parsed.value.values()].flatMap(({ node, definition }) => fileTexts(node, definition)))];
}

/** In graph order. */
function checkReached(graph: ParsedGraph, outputs: readonly string[], files: Files): Map<string, CheckedNode> {
  const found = new Map<string, CheckedNode>();
  reach(outputs, (id) => {
    const node = graph.get(id);
    if (!node) return [];
    const checked = checkInputs(node, graph, files);
    found.set(id, checked);
    return checked.sources;
  });
  return new Map(
    [...graph.keys()].flatMap((id) => {
      const checked = found.get(id);
      return checked ? [[id, checked] as const] : [];
    }),
  );
}

function toGraph(graph: ParsedGraph, checked: ReadonlyMap<string, CheckedNode>): Graph {
  return Object.fromEntries(
    [...graph].map(([id, { node }]) => {
      const literals = checked.get(id)?.literals ?? new Map<string, unknown>();
      return [id, { ...node, inputs: withSpellingsOf(node.inputs, { ...node.inputs, ...Object.fromEntries(literals) }) }];
    }),
  );
}

function noOutputs(): PromptError {
  return { type: "prompt_no_outputs", message: "Prompt has no outputs", details: "", extra_info: {} };
}

function allFailed(lines: readonly string[]): PromptError {
  const message = "Prompt outputs failed validation";
  return { type: "prompt_outputs_failed_validation", message, details: lines.join("\n"), extra_info: {} };
}
