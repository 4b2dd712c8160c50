import { useTranslations } from "next-intl";
import { useEffect, useMemo, useState } from "react";
import { type EditorNotice, type EditorProblem, type EditorReport } from "@/lib/contract/editor-workflow/sent-values";
import { type createEditableFile, type EditableFile } from "@/lib/contract/editor-workflow/write-file";
import { copySpellings, writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, type JsonObject } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { getDrawing } from "@/lib/contract/workflow/workflow-name";
import { focusProblem } from "../form/form-model";
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

const MAX_SHOWN_PROBLEMS = 12;

/** How editor-only nodes were handled, and the problems that the form doesn't show at its fields. */
export function EditorNote({ problems, notices }: EditorReport) {
  return (
    <>
      <Notices notices={notices} />
      <Problems problems={problems.filter(({ code }) => code !== "value_not_listed" && code !== "missing_class")} />
    </>
  );
}

const MAX_LISTED_NOTICES = 200;

function Notices({ notices }: { notices: readonly EditorNotice[] }) {
  const t = useTranslations("run.editorNote");
  if (notices.length === 0) return null;
  const resolvedCount = notices.filter(({ code }) => code === "resolved").length;
  const leftOutCount = notices.length - resolvedCount;
  return (
    <details className="text-ink-2">
      <summary className="cursor-pointer">
        {[resolvedCount > 0 && t("resolved", { count: resolvedCount }), leftOutCount > 0 && t("leftOut", { count: leftOutCount })]
          .filter(Boolean)
          .join(" ")}
      </summary>
      <ul className="mt-1 flex max-h-60 flex-col gap-0.5 overflow-y-auto pl-4 break-words">
        {notices.slice(0, MAX_LISTED_NOTICES).map((notice) => (
          <li key={notice.nodeId}>
            {notice.code === "resolved"
              ? t("resolvedNode", { nodeId: notice.nodeId, name: notice.name })
              : t("leftOutNode", { nodeId: notice.nodeId, classType: notice.classType, title: notice.title ?? "" })}
          </li>
        ))}
        {notices.length > MAX_LISTED_NOTICES ? <li>{t("more", { count: notices.length - MAX_LISTED_NOTICES })}</li> : null}
      </ul>
    </details>
  );
}

function Problems({ problems }: { problems: readonly EditorProblem[] }) {
  const t = useTranslations("run.editorNote");
  if (problems.length === 0) return null;
  return (
    <section aria-label={t("title", { count: problems.length })} className="rounded-md border border-line bg-surface-2 px-3.5 py-3">
      <p className="font-medium">{t("title", { count: problems.length })}</p>
      <ul className="mt-1.5 flex flex-col gap-1 text-ink-2">
        {problems.slice(0, MAX_SHOWN_PROBLEMS).map((problem, index) => (
          <li key={index}>
            {"nodeId" in problem ? (
              <button
                type="button"
                onClick={() => focusProblem({ nodeId: problem.nodeId, ...("input" in problem && { field: problem.input }) })}
                className="rounded-sm text-left hover:underline"
              >
                <ProblemText problem={problem} />
              </button>
            ) : (
              <ProblemText problem={problem} />
            )}
          </li>
        ))}
        {problems.length > MAX_SHOWN_PROBLEMS ? <li>{t("more", { count: problems.length - MAX_SHOWN_PROBLEMS })}</li> : null}
      </ul>
    </section>
  );
}

function ProblemText({ problem }: { problem: EditorProblem }) {
  const t = useTranslations("run.editorNote");
  switch (problem.code) {
    case "missing_subgraph":
    case "inside_of_off_sent":
      return t(problem.code, { nodeId: problem.nodeId });
    case "links_by_rule":
      return t("links_by_rule");
    // The first two never occur with a graph. Problems with values are shown at the field.
    case "not_an_editor_file":
    case "too_many_nodes":
    case "value_not_listed":
    case "missing_class":
      return null;
    case "duplicate_id":
      return t(problem.code, { nodeId: problem.nodeId, count: problem.count });
    case "not_set":
      return t("not_set", { nodeId: problem.nodeId, input: problem.input, name: problem.name });
    default:
      return t(problem.code, { nodeId: problem.nodeId, input: problem.input });
  }
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
