// The submission of a workflow: its graph, and extra_data from the file.

import { copySpellings } from "@/lib/contract/json/exact-json";
import { asObject, getOwn, type JsonObject } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { getDrawing } from "@/lib/contract/workflow/workflow-name";
import { type InEditorFile, withEditorFile } from "../workflow/editor-file";
import { type OpenWorkflow } from "../workflow/opened-workflow";
import { mergeExtra, readExtra, withWrittenNames } from "../workflow/workflow-contents";

export type Submission = {
  prompt: Graph;
  partial_execution_targets?: readonly string[];
  extra_data: JsonObject & { extra_pnginfo: JsonObject & { workflow: JsonObject & { id: string; name: string } } };
};

export type Submitted = Pick<OpenWorkflow, "graph" | "workflowId" | "name" | "extraData" | "advanced" | "fromJob">;

/**
 * Includes the file's extra data, such as the editor's drawing. `writtenGraph`: the graph before its texts were filled in. `inFile`: the
 * editor's file, which gets the values that are sent.
 */
export function toSubmission(workflow: Submitted, writtenGraph = workflow.graph, inFile?: InEditorFile): Submission {
  const extra = readExtra(workflow.advanced?.extra ?? "");
  const fromFile = withEditorFile(workflow.extraData, withWritten(workflow.graph, writtenGraph), inFile);
  const extraData = mergeExtra(fromFile, extra.ok ? extra.value : {});
  const drawing = withWrittenNames(getDrawing(extraData), writtenGraph, workflow.graph);
  const info = asObject(extraData.extra_pnginfo) ?? {};
  const targets = workflow.advanced?.targets;
  return {
    prompt: workflow.graph,
    ...(targets && { partial_execution_targets: targets }),
    extra_data: copySpellings(extraData, {
      ...extraData,
      extra_pnginfo: copySpellings(info, {
        ...info,
        workflow: copySpellings(drawing ?? {}, { ...drawing, id: workflow.workflowId, name: workflow.name }),
      }),
    }),
  };
}

/** Restores the texts as written, so that they are filled in again when the file is opened. */
function withWritten(sentGraph: Graph, writtenGraph: Graph): Graph {
  const nodes = Object.entries(sentGraph).map(([id, node]) => {
    const before = getOwn(writtenGraph, id)?.inputs ?? {};
    const inputs = Object.entries(node.inputs).map(([name, value]) => [
      name,
      typeof value === "string" ? (getOwn(before, name) ?? value) : value,
    ]);
    return [id, { ...node, inputs: Object.fromEntries(inputs) }] as const;
  });
  return Object.fromEntries(nodes);
}
