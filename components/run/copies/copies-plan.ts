// What the copies of a run send: the workflow that they share, and what each has for itself. Pure.
// Guarantees: values and seeds are chosen once, so that going on later sends what was meant.

import { newPressKey } from "@/lib/browser/press-key";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type FilledText } from "../fill-texts";
import { withInput } from "../form-model";
import { own } from "../own";
import { type Edit, type OpenWorkflow } from "../run-state";
import { type SeedEdit } from "../seeds";
import { type Submitted, toSubmission } from "../submission";
import { type Planned } from "./send-copies";
import { labelOf, type Literal } from "./variation";

export type CopiesOrder = {
  nodeId: string;
  input: string;
  values: readonly Literal[];
  /** What changes with every run, for one copy. */
  seedsOf: () => readonly SeedEdit[];
  /** Texts that are filled in on sending, for the copy of this number. */
  fill?: (graph: Graph, copy: number) => readonly FilledText[];
};

export type CopiesPlan = { workflow: Submitted; copies: readonly { key: string; label: string; edits: readonly Edit[] }[] };

export function planOf(opened: OpenWorkflow, name: string, { nodeId, input, values, seedsOf, fill }: CopiesOrder): CopiesPlan {
  return {
    workflow: { ...opened, name },
    copies: values.map((value, index) => ({
      key: newPressKey(),
      label: labelOf(input, own(opened.ownNames, String(value)) ?? value, { index, total: values.length }),
      edits: withFilled(opened.graph, index, fill, [
        ...seedsOf().filter((seed) => seed.nodeId !== nodeId || seed.name !== input),
        { nodeId, name: input, value },
      ]),
    })),
  };
}

/** Filled in once, as values and seeds are chosen once. */
function withFilled(graph: Graph, copy: number, fill: CopiesOrder["fill"], edits: readonly Edit[]): Edit[] {
  const texts = fill?.(edited(graph, edits), copy) ?? [];
  return [...edits, ...texts.map(({ nodeId, name, text }) => ({ nodeId, name, value: text }))];
}

function edited(graph: Graph, edits: readonly Edit[]): Graph {
  return edits.reduce((now, edit) => withInput(now, edit.nodeId, edit.name, edit.value), graph);
}

export function plannedOf({ workflow, copies }: CopiesPlan): Planned[] {
  return copies.map(({ key, label, edits }) => ({
    key,
    label,
    make: () => {
      const graph = edited(workflow.graph, edits);
      return { graph, submission: toSubmission({ ...workflow, graph }) };
    },
  }));
}
