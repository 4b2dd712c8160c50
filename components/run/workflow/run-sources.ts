// Opens the workflow or pictures named by a link to the Run page. Never throws. Parses everything like a dropped file.

import { type SampleName } from "@/components/frame/samples/samples";
import { toShortId } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { copySpellings, writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { findWorkflowSecrets } from "@/lib/contract/secrets/secret-locations";
import { toAssetView } from "@/lib/contract/views/asset-view";
import { type JobView, toJobView } from "@/lib/contract/views/job-view";
import { getWorkflowName } from "@/lib/contract/workflow/workflow-name";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toAssetValue, toContentName, type UnsentPicture } from "../form/controls/picture-api";
import { openAnyWorkflow, openFile, openWorkflow } from "./open-workflow";
import { type OpenedFile, type PendingImage, type PendingImages, type Refusal } from "./opened-workflow";
import { type SentSamplePicture, type WorkflowApi } from "./workflow-api";

/**
 * The parameters of /run: ?job=ID (&without=secrets omits masked values), ?file=workflows/x.json, ?carrier=ID (an asset with an embedded
 * workflow), ?sample=NAME, ?app=ID, or ?asset=ID and ?assets=ID,ID (pictures to put into a workflow).
 */
export type RunSource =
  | { job: string; without?: "secrets" }
  | { file: string }
  | { carrier: string }
  | { sample: SampleName }
  | { app: string }
  | { assets: readonly string[] };

export async function openRunSource(
  source: Exclude<RunSource, { assets: unknown }>,
  api: WorkflowApi,
): Promise<Result<OpenedFile, Refusal>> {
  if ("job" in source) return openJob(source, api);
  if ("carrier" in source) return openCarrier(source.carrier, api);
  if ("app" in source) return openApp(source.app, api);
  return "file" in source ? openStoredFile(source.file, api) : openSample(source.sample, api);
}

/** Requests one asset after another, since a service may refuse a hundred requests at once. */
export async function loadAssets(ids: readonly string[], { readAsset }: WorkflowApi): Promise<Result<PendingImages, Refusal>> {
  const pictures: PendingImage[] = [];
  let failure: Failure | undefined;
  for (const id of ids) {
    const assetResult = await readAsset(id);
    if (!assetResult.ok) {
      failure = assetResult.failure;
      // Skips a deleted asset. Any other failure would affect the remaining ones too.
      if (failure.status !== 404) break;
      continue;
    }
    const view = toAssetView(assetResult.value);
    if (view.kind === "image") pictures.push({ id, value: toAssetValue(view), name: view.name });
  }
  if (pictures.length > 0) return ok({ pictures, missing: ids.length - pictures.length });
  if (failure && failure.status !== 404) return failed({ reason: { code: "unread", failure } });
  return failed({ reason: { code: "no_pictures", isMissing: failure !== undefined } });
}

async function openJob({ job: id, without }: Extract<RunSource, { job: string }>, api: WorkflowApi): Promise<Result<OpenedFile, Refusal>> {
  const refuse = (reason: Refusal["reason"]) => failed({ fileName: toShortId(id), reason });
  const jobResult = await api.readJob(id);
  if (!jobResult.ok)
    return refuse(jobResult.failure.status === 404 ? { code: "job_gone" } : { code: "unread", failure: jobResult.failure });
  if (!jobResult.value.workflow) return refuse({ code: "job_without_workflow" });
  // The job has the name, and its workflow id groups the new run with the older ones.
  const result = await openAnyWorkflow(writeExactJson(jobResult.value.workflow), api, undefined, {
    name: getWorkflowName(jobResult.value),
    workflowId: jobResult.value.workflow_id,
    fromJob: id,
    errors: toNodeErrors(toJobView(jobResult.value)),
    ...(without && { leavesOut: findWorkflowSecrets(jobResult.value.workflow) }),
  });
  return result.ok ? result : refuse(result.failure.reason);
}

function toNodeErrors({ id, error }: JobView): OpenedFile["errors"] {
  if (!error) return undefined;
  if (error.lateValidation?.nodeErrors) return error.lateValidation.nodeErrors;
  const { nodeId, nodeType, type, message } = error;
  if (nodeId === undefined) return undefined;
  const reason = message.trim() || type;
  const nodeError = { type: "execution_failed", message: reason, details: "", extra_info: { job: toShortId(id) } };
  return { [nodeId]: { class_type: nodeType, dependent_outputs: [], errors: [nodeError] } };
}

async function openApp(id: string, api: WorkflowApi): Promise<Result<OpenedFile, Refusal>> {
  const appResult = await api.readApp(id);
  if (!appResult.ok) return failed({ reason: { code: "unread", failure: appResult.failure } });
  const { title, graph, editor } = appResult.value;
  const workflow = { prompt: graph, ...(editor && { extra_data: { extra_pnginfo: { workflow: editor } } }) };
  const result = await openAnyWorkflow(writeExactJson(workflow), api, undefined, { name: title });
  if (!result.ok) return result;
  // An app runs its graph, so the user isn't asked for a format.
  const { both: _both, ...file } = result.value;
  return ok(file);
}

async function openSample(name: SampleName, api: WorkflowApi): Promise<Result<OpenedFile, Refusal>> {
  const fileName = `${name}.json`;
  const missingFailure = failed<Refusal>({ fileName, reason: { code: "sample_missing" } });
  const textResult = await api.loadSample(name);
  if (!textResult.ok) return missingFailure;
  const title = api.sampleTitle?.(name);
  const workflowResult = openWorkflow(textResult.value, title === undefined ? fileName : undefined, { name: title });
  if (!workflowResult.ok) return workflowResult;
  const getValue = api.shipsPictures ? getShippedName : (picture: string) => api.sendSamplePicture?.(picture);
  const result = await withSamplePictures(workflowResult.value, getValue);
  return result.ok ? result : missingFailure;
}

async function openStoredFile(path: string, api: WorkflowApi): Promise<Result<OpenedFile, Refusal>> {
  const fileName = path.slice(path.lastIndexOf("/") + 1);
  const sourceResult = await api.readStored(path);
  if (!sourceResult.ok) return toUnreadRefusal(sourceResult.failure, fileName);
  const fileResult = await openFile(sourceResult.value, api, { name: fileName });
  // Saving writes a graph, so only a graph file keeps its path: saving must not overwrite an editor file.
  return fileResult.ok && !fileResult.value.rawTexts && /\.json$/i.test(path) ? ok({ ...fileResult.value, storedPath: path }) : fileResult;
}

async function openCarrier(id: string, api: WorkflowApi): Promise<Result<OpenedFile, Refusal>> {
  const assetResult = await api.readAsset(id);
  if (!assetResult.ok) return toUnreadRefusal(assetResult.failure, toShortId(id));
  const view = toAssetView(assetResult.value);
  const sourceResult = await api.readFile(view);
  return sourceResult.ok
    ? openFile(sourceResult.value, api, { name: view.name, type: view.mimeType })
    : toUnreadRefusal(sourceResult.failure, view.name);
}

function toUnreadRefusal(failure: Failure, fileName: string) {
  return failed<Refusal>({ fileName, reason: failure.status === 404 ? { code: "file_gone" } : { code: "unread", failure } });
}

// The samples' pictures. Services that ship them use their content names. For other services, missing pictures are uploaded. A member's own
// photo.png is never used instead. Only picture inputs change, and the displayed names stay the same.

/** BLAKE3 of the files in public/samples. */
export const samplePictures: Readonly<Record<string, string>> = {
  "photo.png": "5023359c7c541aa3f6495f7fe30a91e2a73cb6a3bd44ff9bde0d346b30b0fd1d",
  "product.png": "6036438ca04228ac3d18a893f15661d88c027404a5e134a5a4131bba3004f2d0",
};

/** The name of a sample's picture at a service that ships it. */
function getShippedName(name: string): SentSamplePicture | undefined {
  const hash = getOwn(samplePictures, name);
  return hash === undefined ? undefined : ok(toContentName(hash, name));
}

/** `getValue` returns the picture's name at the service. A refused picture keeps its name, and its failure is recorded. */
export async function withSamplePictures(
  file: OpenedFile,
  getValue: (name: string) => Promise<SentSamplePicture | undefined> | SentSamplePicture | undefined,
): Promise<Result<OpenedFile, "missing">> {
  const values = new Map<string, string>();
  const unsent = new Map<string, UnsentPicture>();
  for (const { inputs } of Object.values(file.graph)) {
    const name = inputs.image;
    if (typeof name !== "string" || getOwn(samplePictures, name) === undefined || values.has(name) || unsent.has(name)) continue;
    const valueResult = await getValue(name);
    if (valueResult?.ok) values.set(name, valueResult.value);
    else if (valueResult?.failure === "missing") return failed("missing");
    else if (valueResult) unsent.set(name, valueResult.failure);
  }
  const unsentFields = unsent.size > 0 && { unsentPictures: Object.fromEntries(unsent) };
  if (values.size === 0) return ok({ ...file, ...unsentFields });
  const graph: Graph = Object.fromEntries(
    Object.entries(file.graph).map(([id, node]) => {
      const image = typeof node.inputs.image === "string" ? values.get(node.inputs.image) : undefined;
      return [id, image === undefined ? node : { ...node, inputs: copySpellings(node.inputs, { ...node.inputs, image }) }];
    }),
  );
  return ok({ ...file, ...unsentFields, graph, ownNames: Object.fromEntries([...values].map(([name, value]) => [value, name])) });
}
