// A dropped, picked, pasted or sample file made into an opened workflow, or the reason why it cannot be one.
// Guarantees: never throws; a file that cannot be read is refused before it is opened, so that what was open stays. One that no service could
// run (a loop, a link to nothing) opens all the same: what is wrong is easiest to see where the workflow is drawn.

import { readWorkflow, topologicalOrder } from "@/lib/contract/graph";
import { type Failure } from "@/lib/contract/failure";
import { type Workflow, workflowLimits } from "@/lib/contract/read-workflow";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { type SecretPlace } from "@/lib/contract/secrets/secret-places";
import { drawingIn, nameInExtraData } from "@/lib/contract/workflow-name";
import { failed, ok, type Result } from "@/lib/shared/result";
import { nameOfFile } from "./file-name";
import { leftOut, withoutMasks } from "../form/masked";
import { pictureTexts, textOfPicture } from "./picture-graph";
import { type Refusal, type RefusalReason } from "./refusal";
import { type OpenedFile } from "../run-state";
import { readWrittenNames } from "./written-names";
import { workflowIdOf } from "./workflow-id";

/** The service's list of nodes. */
export type CataloguePort = { readCatalogue: () => Promise<Result<ObjectInfo, Failure>> };
/** What is known of it from elsewhere: the job that it was submitted as, say. */
type Known = { name?: string; workflowId?: string; leavesOut?: readonly SecretPlace[] };

export function openWorkflow(text: string, fileName?: string, known: Known = {}): Result<OpenedFile, Refusal> {
  const reading = readWorkflow(text);
  if (!reading.ok) return failed(refusal(reading.failure, fileName));
  return ok(toOpened(readWrittenNames(reading.value), fileName, known));
}

/** The same of what may be a file of the graph editor, which takes the service's list of nodes to open. */
export async function openAnyWorkflow(
  text: string,
  { readCatalogue }: CataloguePort,
  fileName?: string,
  known: Known = {},
): Promise<Result<OpenedFile, Refusal>> {
  const opened = openWorkflow(text, fileName, known);
  const file = opened.ok || opened.failure.reason.code !== "ui_format" ? undefined : opened.failure.reason.file;
  if (!file) return opened;
  // It is read on demand: most workflows are graphs already.
  const [catalogue, { toApiWorkflow }] = await Promise.all([readCatalogue(), import("@/lib/contract/editor-workflow")]);
  if (!catalogue.ok) return failed(refusal({ code: "no_catalogue", failure: catalogue.failure }, fileName));
  const { graph, problems, rawTexts } = toApiWorkflow(file, catalogue.value, { fill: false });
  const tooMany = problems.find(({ code }) => code === "too_many_nodes");
  if (tooMany)
    return failed(refusal({ code: "too_large", limit: "nodes", most: workflowLimits.nodes, found: workflowLimits.nodes + 1 }, fileName));
  if (Object.keys(graph).length === 0) return failed(refusal({ code: "nothing_runs" }, fileName));
  const extraData = { extra_pnginfo: { workflow: file } };
  return ok({ ...toOpened({ graph, extraData, title: nameInExtraData(extraData) }, fileName, known), editorProblems: problems, rawTexts });
}

function toOpened({ title, ...read }: Workflow, fileName: string | undefined, known: Known): OpenedFile {
  const { graph, extraData } = known.leavesOut ? leftOut(read, known.leavesOut) : read;
  return {
    name: nameOfFile(fileName ?? "") || (known.name ?? title ?? ""),
    // An id that came with the file keeps its runs beside those started elsewhere.
    workflowId: uuidOf(drawingIn(extraData)?.id) ?? uuidOf(known.workflowId) ?? workflowIdOf(graph),
    order: orderOf(graph),
    graph,
    ...(extraData && { extraData: withoutMasks(extraData) }),
    ...(known.leavesOut && { leftOut: known.leavesOut }),
  };
}

/** Judged before its bytes are read: a film dropped by mistake must not fill the memory. */
export async function openFile(file: File, ports: CataloguePort): Promise<Result<OpenedFile, Refusal>> {
  if (file.type.startsWith("image/")) {
    const texts = await pictureTexts(file);
    return texts ? openAnyWorkflow(textOfPicture(texts), ports, file.name) : failed(refusal({ code: "picture" }, file.name));
  }
  const most = workflowLimits.characters;
  if (file.size > most * 4) return failed(refusal({ code: "too_large", limit: "characters", most, found: file.size }, file.name));
  try {
    return await openAnyWorkflow(await file.text(), ports, file.name);
  } catch {
    // A folder, or a file that was moved or locked between the drop and the read.
    return failed(refusal({ code: "unreadable_file" }, file.name));
  }
}

/** Nodes in or behind a loop have no place in the order of the work: they come last. */
function orderOf(graph: Graph): string[] {
  const sorted = topologicalOrder(graph);
  const placed = new Set(sorted);
  return [...sorted, ...Object.keys(graph).filter((id) => !placed.has(id))];
}

function refusal(reason: RefusalReason, fileName: string | undefined): Refusal {
  return { reason, ...(fileName !== undefined && { fileName }) };
}

function uuidOf(id: unknown): string | undefined {
  return typeof id === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id) ? id : undefined;
}
