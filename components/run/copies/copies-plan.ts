// What the copies of a run send: the workflow that they share, and what differs in each. Pure.
// Guarantees: values and seeds are chosen once, so that continuing later sends exactly what was shown.

import { own } from "@/lib/contract/json/own";
import { type FilledText, isFileName } from "@/lib/contract/nodes/fill-texts";
import { type Graph } from "@/lib/contract/schemas/graph";
import { newIdempotencyKey } from "@/lib/shared/text";
import { withInputs } from "../form/form-model";
import { type SeedEdit } from "../form/seeds";
import { type Submitted, toSubmission } from "../submit/submission";
import { type Edit, type OpenWorkflow } from "../workflow/opened";
import { type InEditorFile } from "../workflow/use-editor-file";
import { type Planned } from "./send-copies";
import { labelOf, type Literal } from "./variation";

/** What is drawn anew for each copy: seeds, and the texts that are filled in on sending. */
export type Drawn = {
  seedsOf: (copy: number) => readonly SeedEdit[];
  fill: (graph: Graph, copy: number) => readonly FilledText[];
};
export type CopiesOrder = Drawn & { nodeId: string; input: string; values: readonly Literal[]; inFile?: InEditorFile };

export type CopiesPlan = { workflow: Submitted; copies: readonly { key: string; label: string; edits: readonly Edit[] }[] };

export function planOf(opened: OpenWorkflow, name: string, { nodeId, input, values, ...drawn }: CopiesOrder): CopiesPlan {
  return {
    workflow: { ...opened, name },
    copies: values.map((value, index) => ({
      key: newIdempotencyKey(),
      label: labelOf(input, own(opened.ownNames, String(value)) ?? value, { index, total: values.length }),
      edits: changesOf(opened.graph, { nodeId, name: input, value }, index, drawn).edits,
    })),
  };
}

/** How a copy differs from the form, and which of its texts are filled in; used both for the preview and for sending. */
export function changesOf(graph: Graph, varied: Edit, copy: number, { seedsOf, fill }: Drawn) {
  const seeds = seedsOf(copy).filter(({ nodeId, name }) => nodeId !== varied.nodeId || name !== varied.name);
  const shown = withInputs(graph, [...seeds, varied]);
  const texts = fill(shown, copy);
  // A file name is listed twice: as it was written, and as it is sent.
  const written = texts.flatMap(({ nodeId, name }) => {
    const node = own(shown, nodeId);
    return node && isFileName(node, name) ? [{ nodeId, name, value: node.inputs[name] }] : [];
  });
  const edits: Edit[] = [...seeds, varied, ...written, ...texts.map(({ nodeId, name, text }) => ({ nodeId, name, value: text }))];
  return { edits, texts };
}

export function plannedOf({ workflow, copies }: CopiesPlan, inFile?: InEditorFile): Planned[] {
  return copies.map(({ key, label, edits }) => ({
    key,
    label,
    rerunOf: workflow.fromJob,
    make: () => {
      const graph = withInputs(workflow.graph, edits);
      // The first edit of an input holds the text as it was written.
      return { graph, submission: toSubmission({ ...workflow, graph }, withInputs(workflow.graph, edits.toReversed()), inFile) };
    },
  }));
}
