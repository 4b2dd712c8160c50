// Opens a workflow from a file, text, job or asset, or explains why it can't.
// Guarantees: never throws. An unreadable file leaves the open workflow unchanged. A workflow that no service can run still opens, because
// the graph shows its errors.

import { type ByteSource, RangeReadError } from "@/lib/browser/files/byte-source";
import { type JsonObject } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { removeMasks } from "@/lib/contract/secrets/secret-texts";
import { readWorkflow, sortTopologically } from "@/lib/contract/workflow/graph";
import { type Workflow, workflowLimits } from "@/lib/contract/workflow/read-workflow";
import { getDrawing, getNameInExtraData } from "@/lib/contract/workflow/workflow-name";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type CatalogueApi } from "./catalogue";
import {
  type BothFormats,
  getWorkflowId,
  getWorkflowName,
  type OpenedFile,
  type Refusal,
  type RefusalReason,
  type WorkflowFacts,
} from "./opened-workflow";
import { countDrawnNodes, removeSecrets, restoreWrittenNames, withoutDrawing } from "./workflow-contents";

export function openWorkflow(text: string, fileName?: string, facts: WorkflowFacts = {}): Result<OpenedFile, Refusal> {
  const textResult = readText(text, fileName);
  return textResult.ok ? ok(toOpenedFile(textResult.value, fileName, facts)) : textResult;
}

function readText(text: string, fileName: string | undefined): Result<Workflow, Refusal> {
  const readResult = readWorkflow(text);
  return readResult.ok ? ok(restoreWrittenNames(readResult.value)) : failed(createRefusal(readResult.failure, fileName));
}

/** Opens text that may contain the editor's drawing, which needs the service's node list. If it has both formats, the run graph is opened. */
export async function openAnyWorkflow(
  text: string,
  api: CatalogueApi,
  fileName?: string,
  facts: WorkflowFacts = {},
): Promise<Result<OpenedFile, Refusal>> {
  const textResult = readText(text, fileName);
  if (!textResult.ok) {
    const { reason } = textResult.failure;
    return reason.code === "ui_format" ? openDrawing(reason.file, api, fileName, facts) : textResult;
  }
  const { graph, extraData, duplicates } = textResult.value;
  const drawing = getDrawing(extraData);
  if (countDrawnNodes(drawing) === 0) return ok(toOpenedFile(textResult.value, fileName, facts));
  const { readMatchingDrawing } = await import("@/lib/contract/editor-workflow/drawing");
  // The id and name of a drawing that does not match the graph belong to other runs.
  const workflow = readMatchingDrawing(drawing, graph) ? textResult.value : { graph, duplicates, extraData: withoutDrawing(extraData) };
  const bothFormats = { text, ...(fileName !== undefined && { fileName }), facts };
  return ok({ ...toOpenedFile(workflow, fileName, facts), both: bothFormats });
}

export async function openBothAsDrawing({ text, fileName, facts }: BothFormats, api: CatalogueApi): Promise<Result<OpenedFile, Refusal>> {
  const workflowResult = openWorkflow(text, fileName, facts);
  const drawing = workflowResult.ok ? getDrawing(workflowResult.value.extraData) : undefined;
  return workflowResult.ok && drawing ? openDrawing(drawing, api, fileName, { ...facts, name: workflowResult.value.name }) : workflowResult;
}

export async function openDrawing(
  file: JsonObject,
  { readCatalogue }: CatalogueApi,
  fileName?: string,
  facts: WorkflowFacts = {},
): Promise<Result<OpenedFile, Refusal>> {
  // Loaded on demand: most workflows are graphs already.
  const [catalogueResult, { toApiWorkflow }] = await Promise.all([readCatalogue(), import("@/lib/contract/editor-workflow")]);
  if (!catalogueResult.ok) return failed(createRefusal({ code: "no_catalogue", failure: catalogueResult.failure }, fileName));
  const { graph, problems, rawTexts } = toApiWorkflow(file, catalogueResult.value, { fill: false });
  const sizeProblem = problems.find(({ code }) => code === "too_many_nodes");
  if (sizeProblem)
    return failed(
      createRefusal({ code: "too_large", limit: "nodes", max: workflowLimits.nodes, found: workflowLimits.nodes + 1 }, fileName),
    );
  if (Object.keys(graph).length === 0) return failed(createRefusal({ code: "nothing_runs" }, fileName));
  const extraData = { extra_pnginfo: { workflow: file } };
  return ok({ ...toOpenedFile({ graph, extraData, title: getNameInExtraData(extraData) }, fileName, facts), rawTexts });
}

function toOpenedFile({ title, duplicates, ...workflow }: Workflow, fileName: string | undefined, facts: WorkflowFacts): OpenedFile {
  const { graph, extraData } = facts.leavesOut ? removeSecrets(workflow, facts.leavesOut) : workflow;
  return {
    name: getWorkflowName(fileName ?? "") || (facts.name ?? title ?? ""),
    // Uses the file's own id, which groups its runs with those started elsewhere.
    workflowId: parseUuid(getDrawing(extraData)?.id) ?? parseUuid(facts.workflowId) ?? getWorkflowId(graph),
    order: getOrder(graph),
    graph,
    ...(extraData && { extraData: removeMasks(extraData) }),
    ...(facts.leavesOut && { removedSecrets: facts.leavesOut }),
    ...(duplicates && { duplicates }),
    ...(facts.fromJob !== undefined && { fromJob: facts.fromJob }),
    ...(facts.errors && { errors: facts.errors }),
  };
}

/** Opens a file of any kind and size by reading only the parts that may contain a workflow. `type`: its media type, if known. */
export async function openFile(
  source: ByteSource,
  api: CatalogueApi,
  { name, type = "" }: { name: string; type?: string },
): Promise<Result<OpenedFile, Refusal>> {
  const refuse = (reason: RefusalReason) => failed(createRefusal(reason, name));
  try {
    // A folder may also report no size, but it can't be read.
    if (source.size === 0 && (await source.text()) === "") return refuse({ code: "empty" });
    // Loaded on demand: most users open JSON files.
    const { readEmbeddedWorkflow } = await import("@/lib/browser/embedded-workflow");
    const embeddedWorkflow = await readEmbeddedWorkflow(source);
    if (embeddedWorkflow.kind === "workflow") return await openAnyWorkflow(embeddedWorkflow.text, api, name);
    if (embeddedWorkflow.kind === "none") return refuse({ code: embeddedWorkflow.isPicture ? "picture" : "media" });
    if (embeddedWorkflow.kind !== "unknown") return refuse({ code: embeddedWorkflow.kind });
    if (/^(image|video|audio)\//.test(type)) return refuse({ code: type.startsWith("image/") ? "picture" : "media" });
    const maxCharacters = workflowLimits.characters;
    if (source.size > maxCharacters * 4) return refuse({ code: "too_large", limit: "characters", max: maxCharacters, found: source.size });
    return await openAnyWorkflow(await source.text(), api, name);
  } catch (cause) {
    if (cause instanceof RangeReadError) return refuse({ code: "unread", failure: cause.failure });
    // A folder, or a file that was moved or locked since the drop.
    return refuse({ code: "unreadable_file" });
  }
}

/** Nodes in or downstream of a cycle can't be ordered, so they are last. */
function getOrder(graph: Graph): string[] {
  const sortedIds = sortTopologically(graph);
  const sortedIdSet = new Set(sortedIds);
  return [...sortedIds, ...Object.keys(graph).filter((id) => !sortedIdSet.has(id))];
}

function createRefusal(reason: RefusalReason, fileName: string | undefined): Refusal {
  return { reason, ...(fileName !== undefined && { fileName }) };
}

function parseUuid(id: unknown): string | undefined {
  return typeof id === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id) ? id : undefined;
}
