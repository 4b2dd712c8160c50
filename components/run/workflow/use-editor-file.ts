import { useEffect, useMemo, useState } from "react";
import { type Writable, type writable } from "@/lib/contract/editor-workflow/write-file";
import { withSpellingsOf } from "@/lib/contract/json/exact-json";
import { type JsonObject, objectOf } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { drawingIn } from "@/lib/contract/workflow/workflow-name";

/** The workflow's own editor file, with the values of this graph in it. */
export type InEditorFile = Writable["withValues"];

/** Undefined where the workflow has no such file, or while the code that writes it is not loaded yet. */
export function useEditorFile(extraData: JsonObject | undefined, info: ObjectInfo | undefined): Writable | undefined {
  const drawing = drawingIn(extraData);
  const isFile = Array.isArray(drawing?.nodes);
  const [write, setWrite] = useState<typeof writable>();
  useEffect(() => {
    // If this fails to load, the file is sent as it was opened.
    if (isFile)
      import("@/lib/contract/editor-workflow/write-file").then(
        (module) => setWrite(() => module.writable),
        () => undefined,
      );
  }, [isFile]);
  return useMemo(() => (write && drawing && isFile && info ? write(drawing, info) : undefined), [write, drawing, isFile, info]);
}

/** The data that came with the workflow, with its editor file updated. */
export function withEditorFile(extraData: JsonObject | undefined, graph: Graph, inFile: InEditorFile | undefined): JsonObject | undefined {
  if (!inFile) return extraData;
  const info = objectOf(extraData?.extra_pnginfo) ?? {};
  const withFile = withSpellingsOf(info, { ...info, workflow: inFile(graph).file });
  return withSpellingsOf(extraData ?? {}, { ...extraData, extra_pnginfo: withFile });
}
