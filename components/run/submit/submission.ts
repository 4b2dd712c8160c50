// The submission of a workflow: its graph, and extra_data from the file.

import { copySpellings } from "@/lib/contract/json/exact-json";
import { asObject, getOwn, type JsonObject } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { getDrawing } from "@/lib/contract/workflow/workflow-name";
import { withEditorFile, type WriteEditorFile } from "../workflow/editor-file";
import { type OpenWorkflow } from "../workflow/opened-workflow";
import { mergeExtraData, parseExtraData, withWrittenNames } from "../workflow/workflow-contents";

export type Submission = {
  prompt: Graph;
  partial_execution_targets?: readonly string[];
  extra_data: JsonObject & { extra_pnginfo: JsonObject & { workflow: JsonObject & { id: string; name: string } } };
};

export type SubmittedWorkflow = Pick<OpenWorkflow, "graph" | "workflowId" | "name" | "extraData" | "advanced" | "fromJob">;

/**
 * Includes the file's extra data, such as the editor's drawing. `writtenGraph`: the graph before its texts were filled in.
 * `writeEditorFile` writes the sent values into the editor's file.
 */
export function toSubmission(workflow: SubmittedWorkflow, writtenGraph = workflow.graph, writeEditorFile?: WriteEditorFile): Submission {
  const extra = parseExtraData(workflow.advanced?.extra ?? "");
  const fileExtraData = withEditorFile(workflow.extraData, restoreWrittenTexts(workflow.graph, writtenGraph), writeEditorFile);
  const extraData = mergeExtraData(fileExtraData, extra.ok ? extra.value : {});
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
function restoreWrittenTexts(sentGraph: Graph, writtenGraph: Graph): Graph {
  const nodes = Object.entries(sentGraph).map(([id, node]) => {
    const writtenInputs = getOwn(writtenGraph, id)?.inputs ?? {};
    const inputs = Object.entries(node.inputs).map(([name, value]) => [
      name,
      typeof value === "string" ? (getOwn(writtenInputs, name) ?? value) : value,
    ]);
    return [id, { ...node, inputs: Object.fromEntries(inputs) }] as const;
  });
  return Object.fromEntries(nodes);
}
