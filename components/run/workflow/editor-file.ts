import { useEffect, useMemo, useState } from "react";
import { type createEditableFile, type EditableFile } from "@/lib/contract/editor-workflow/write-file";
import { copySpellings, writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, type JsonObject } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { getDrawing } from "@/lib/contract/workflow/workflow-name";
import { type CatalogueApi } from "./catalogue";
import { type OpenWorkflow } from "./opened-workflow";

/** Writes a graph's values into the workflow's editor file. */
export type WriteEditorFile = EditableFile["applyValues"];

/** Returns undefined if the workflow has no editor file, or while the code that writes it loads. */
export function useEditorFile(extraData: JsonObject | undefined, info: ObjectInfo | undefined): EditableFile | undefined {
  const drawing = getDrawing(extraData);
  const isFile = Array.isArray(drawing?.nodes);
  const [createFile, setCreateFile] = useState<typeof createEditableFile>();
  useEffect(() => {
    // If this fails to load, the file is sent unchanged.
    if (isFile)
      import("@/lib/contract/editor-workflow/write-file").then(
        (module) => setCreateFile(() => module.createEditableFile),
        () => undefined,
      );
  }, [isFile]);
  return useMemo(
    () => (createFile && drawing && isFile && info ? createFile(drawing, info) : undefined),
    [createFile, drawing, isFile, info],
  );
}

/** For a workflow that is not open. Returns undefined without an editor file, or if the node list or the code fails to load. */
export async function createEditorFileWriter(extraData: JsonObject | undefined, api: CatalogueApi): Promise<WriteEditorFile | undefined> {
  const drawing = getDrawing(extraData);
  if (!drawing || !Array.isArray(drawing.nodes)) return undefined;
  const [catalogue, module] = await Promise.all([
    api.readCatalogue(),
    import("@/lib/contract/editor-workflow/write-file").catch(() => undefined),
  ]);
  return catalogue.ok ? module?.createEditableFile(drawing, catalogue.value).applyValues : undefined;
}

/** The workflow's extra data, with its editor file updated. */
export function withEditorFile(
  extraData: JsonObject | undefined,
  graph: Graph,
  writeEditorFile: WriteEditorFile | undefined,
): JsonObject | undefined {
  if (!writeEditorFile) return extraData;
  const info = asObject(extraData?.extra_pnginfo) ?? {};
  const updatedInfo = copySpellings(info, { ...info, workflow: writeEditorFile(graph).file });
  return copySpellings(extraData ?? {}, { ...extraData, extra_pnginfo: updatedInfo });
}

/** The workflow in the graph editor's format: its original file, otherwise a new file laid out like the drawing. */
export async function createEditorText(
  { graph, workflowId }: OpenWorkflow,
  info: ObjectInfo,
  writeEditorFile: WriteEditorFile | undefined,
) {
  if (writeEditorFile) {
    const { file, findUnplacedValues } = writeEditorFile(graph);
    return { text: writeExactJson(file, 2), unplaced: findUnplacedValues().map(({ nodeId, input = "" }) => `#${nodeId} ${input}`.trim()) };
  }
  const [{ toEditorFile }, { layoutGraph }] = await Promise.all([
    import("@/lib/contract/editor-workflow/write-file"),
    import("@/components/graph/graph-layout"),
  ]);
  const { file, lostInputs } = toEditorFile(graph, info, { id: workflowId, drawingPositions: layoutGraph(graph).nodes });
  return { text: writeExactJson(file, 2), unplaced: lostInputs.map((id) => `#${id}`) };
}
