// How the editor's drawing of a workflow differs from what was run, so that a person can choose between the two. Pure.

import { own } from "@/lib/contract/json/own";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { nodeName } from "@/lib/contract/workflow/loose-graph";
import { type Graph } from "@/lib/contract/schemas/graph";

export type FormatDifferences = {
  /** Values and links that differ, of nodes that exist in both. */
  values: { nodeId: string; title: string; input: string; run: string; drawing: string }[];
  onlyRun: number;
  onlyDrawing: number;
};

const LONGEST_VALUE = 40;

export function differencesOf(run: Graph, drawing: Graph): FormatDifferences {
  const isBoth = (id: string) => own(run, id)?.class_type === own(drawing, id)?.class_type;
  const common = Object.keys(run).filter(isBoth);
  const values = common.flatMap((nodeId) => {
    const [one, other] = [own(run, nodeId), own(drawing, nodeId)];
    const names = new Set([...Object.keys(one?.inputs ?? {}), ...Object.keys(other?.inputs ?? {})]);
    return [...names].flatMap((input) => {
      const [ran, drawn] = [shown(own(one?.inputs ?? {}, input)), shown(own(other?.inputs ?? {}, input))];
      return ran === drawn ? [] : [{ nodeId, title: one ? nodeName(one) : nodeId, input, run: short(ran), drawing: short(drawn) }];
    });
  });
  return { values, onlyRun: Object.keys(run).length - common.length, onlyDrawing: Object.keys(drawing).length - common.length };
}

function shown(value: unknown): string {
  return value === undefined ? "–" : typeof value === "string" ? value : writeExactJson(value);
}

function short(text: string): string {
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE - 1)}…` : text;
}
