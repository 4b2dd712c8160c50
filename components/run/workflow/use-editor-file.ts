import { useEffect, useMemo, useState } from "react";
import { type writable, type Writable } from "@/lib/contract/editor-workflow/write-values";
import { type JsonObject, objectOf } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { drawingIn } from "@/lib/contract/workflow/workflow-name";

/** The editor's own file of a workflow, with the values of this graph in it. */
export type InEditorFile = Writable["withValues"];

/** Undefined where the workflow has no such file, or what it takes to write it is not there yet. */
export function useEditorFile(extraData: JsonObject | undefined, info: ObjectInfo | undefined): Writable | undefined {
  const drawing = drawingIn(extraData);
  const isFile = Array.isArray(drawing?.nodes);
  const [write, setWrite] = useState<typeof writable>();
  useEffect(() => {
    // Without it the file goes along as it was opened.
    if (isFile)
      import("@/lib/contract/editor-workflow/write-values").then(
        (module) => setWrite(() => module.writable),
        () => undefined,
      );
  }, [isFile]);
  return useMemo(() => (write && drawing && isFile && info ? write(drawing, info) : undefined), [write, drawing, isFile, info]);
}

/** What came along with the workflow, with its file as it is now. */
export function withEditorFile(extraData: JsonObject | undefined, graph: Graph, inFile: InEditorFile | undefined): JsonObject | undefined {
  if (!inFile) return extraData;
  return { ...extraData, extra_pnginfo: { ...objectOf(extraData?.extra_pnginfo), workflow: inFile(graph).file } };
}
