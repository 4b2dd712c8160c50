import { useEffect, useMemo, useState } from "react";
import { type WrittenFile } from "@/lib/contract/editor-workflow/write-values";
import { type JsonObject, objectOf } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { drawingIn } from "@/lib/contract/workflow-name";

/** The editor's own file of a workflow, with the values of this graph in it. */
export type InEditorFile = (graph: Graph) => WrittenFile;
type Module = typeof import("@/lib/contract/editor-workflow/write-values");

/** Undefined where the workflow has no such file, or what it takes to write it is not there yet. */
export function useEditorFile(extraData: JsonObject | undefined, info: ObjectInfo | undefined): InEditorFile | undefined {
  const drawing = drawingIn(extraData);
  const isFile = Array.isArray(drawing?.nodes);
  const [module, setModule] = useState<Module>();
  useEffect(() => {
    // Without it the file goes along as it was opened.
    if (isFile) import("@/lib/contract/editor-workflow/write-values").then(setModule, () => undefined);
  }, [isFile]);
  return useMemo(
    () => (module && drawing && isFile && info ? (graph) => module.withValues(drawing, graph, info) : undefined),
    [module, drawing, isFile, info],
  );
}

/** What came along with the workflow, with its file as it is now. */
export function withEditorFile(extraData: JsonObject | undefined, graph: Graph, inFile: InEditorFile | undefined): JsonObject | undefined {
  if (!inFile) return extraData;
  return { ...extraData, extra_pnginfo: { ...objectOf(extraData?.extra_pnginfo), workflow: inFile(graph).file } };
}
