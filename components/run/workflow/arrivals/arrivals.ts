// What the Run page opens from the console or the service: a past job, a stored user data file, an asset's workflow, a sample, pictures to
// run with.
// Guarantees: returns a Result, never throws; everything opened is parsed in the same way as a dropped file.

import { type SampleName } from "@/components/frame/samples/samples";
import { assetValue } from "@/components/run/form/controls/asset-value";
import { type OpenedFile } from "@/components/run/workflow/opened";
import { type ByteSource } from "@/lib/browser/files/byte-source";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type JsonObject } from "@/lib/contract/json/json";
import { type Asset } from "@/lib/contract/schemas/asset";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { placesInWorkflow } from "@/lib/contract/secrets/secret-places";
import { type AssetView, toAssetView } from "@/lib/contract/views/asset-view";
import { toJobView } from "@/lib/contract/views/job-view";
import { workflowName } from "@/lib/contract/workflow/workflow-name";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type CataloguePort, openAnyWorkflow, openFile, openWorkflow } from "../open-workflow";
import { type PendingImage, type PendingImages } from "../pending-images";
import { type Refusal } from "../refusal";
import { type SentSamplePicture, shippedName, withSamplePictures } from "./sample-pictures";

const SHORT_ID = 8;

/**
 * What /run was opened with: ?job=ID (with &without=secrets: masked values are left out), ?file=workflows/x.json, ?carrier=ID (of an
 * asset), ?sample=NAME, ?app=ID (its workflow), or ?asset=ID and ?assets=ID,ID (pictures to put into a workflow).
 */
export type Arrival =
  | { job: string; without?: "secrets" }
  | { file: string }
  | { carrier: string }
  | { sample: SampleName }
  | { app: string }
  | { assets: readonly string[] };

export type ArrivalPorts = CataloguePort & {
  readJob: (id: string) => Promise<Result<JobDetail, Failure>>;
  /** The workflow of an app, as stored in its file. */
  readApp: (id: string) => Promise<Result<{ title: string; graph: Graph; editor?: JsonObject }, Failure>>;
  readAsset: (id: string) => Promise<Result<Asset, Failure>>;
  readStored: (path: string) => Promise<Result<ByteSource, Failure>>;
  readFile: (file: AssetView) => Promise<Result<ByteSource, Failure>>;
  loadSample: (name: SampleName) => Promise<Result<string, "missing">>;
  /** The title of a sample, used instead of its file name. */
  sampleTitle?: (name: SampleName) => string;
  /** The service was delivered with the pictures of the samples. */
  shipsPictures?: boolean;
  /** Sends a sample's picture to a service that lacks it; answers the picture's name there. */
  sendSamplePicture?: (name: string) => Promise<SentSamplePicture>;
};

export async function openArrival(
  arrival: Exclude<Arrival, { assets: unknown }>,
  ports: ArrivalPorts,
): Promise<Result<OpenedFile, Refusal>> {
  if ("job" in arrival) return openJob(arrival, ports);
  if ("carrier" in arrival) return openCarrier(arrival.carrier, ports);
  if ("app" in arrival) return openApp(arrival.app, ports);
  return "file" in arrival ? openStored(arrival.file, ports) : openSample(arrival.sample, ports);
}

/** Asks for one after another, as a service may refuse a hundred requests at once. */
export async function bringAssets(ids: readonly string[], { readAsset }: ArrivalPorts): Promise<Result<PendingImages, Refusal>> {
  const pictures: PendingImage[] = [];
  let failure: Failure | undefined;
  for (const id of ids) {
    const asset = await readAsset(id);
    if (!asset.ok) {
      failure = asset.failure;
      // A deleted asset is only one picture less; any other failure would meet the remaining ones too.
      if (failure.status !== 404) break;
      continue;
    }
    const view = toAssetView(asset.value);
    if (view.kind === "image") pictures.push({ id, value: assetValue(view), name: view.name });
  }
  if (pictures.length > 0) return ok({ pictures, lost: ids.length - pictures.length });
  if (failure && failure.status !== 404) return failed({ reason: { code: "unread", failure } });
  return failed({ reason: { code: "no_pictures", gone: failure !== undefined } });
}

async function openJob({ job: id, without }: Extract<Arrival, { job: string }>, ports: ArrivalPorts): Promise<Result<OpenedFile, Refusal>> {
  const refuse = (reason: Refusal["reason"]) => failed({ fileName: id.slice(0, SHORT_ID), reason });
  const job = await ports.readJob(id);
  if (!job.ok) return refuse(job.failure.status === 404 ? { code: "job_gone" } : { code: "unread", failure: job.failure });
  if (!job.value.workflow) return refuse({ code: "job_without_workflow" });
  // The job carries the name; its workflow id groups the new run with the older ones.
  const opened = await openAnyWorkflow(writeExactJson(job.value.workflow), ports, undefined, {
    name: workflowName(job.value),
    workflowId: job.value.workflow_id,
    fromJob: id,
    errors: failureOf(job.value),
    ...(without && { leavesOut: placesInWorkflow(job.value.workflow) }),
  });
  return opened.ok ? opened : refuse(opened.failure.reason);
}

/** The error of a failed job, on its node. */
function failureOf(job: JobDetail): NodeErrors | undefined {
  const { error } = toJobView(job);
  if (!error) return undefined;
  if (error.lateValidation?.nodeErrors) return error.lateValidation.nodeErrors;
  const { nodeId, nodeType, type, message } = error;
  if (nodeId === undefined) return undefined;
  const reason = message.trim() || type;
  const failed = { type: "execution_failed", message: reason, details: "", extra_info: { job: job.id.slice(0, SHORT_ID) } };
  return { [nodeId]: { class_type: nodeType, dependent_outputs: [], errors: [failed] } };
}

async function openApp(id: string, ports: ArrivalPorts): Promise<Result<OpenedFile, Refusal>> {
  const app = await ports.readApp(id);
  if (!app.ok) return failed({ reason: { code: "unread", failure: app.failure } });
  const { title, graph, editor } = app.value;
  const workflow = { prompt: graph, ...(editor && { extra_data: { extra_pnginfo: { workflow: editor } } }) };
  const opened = await openAnyWorkflow(writeExactJson(workflow), ports, undefined, { name: title });
  if (!opened.ok) return opened;
  // An app runs its graph, so the person is not asked which format to open.
  const { both: _both, ...file } = opened.value;
  return ok(file);
}

async function openSample(name: SampleName, ports: ArrivalPorts): Promise<Result<OpenedFile, Refusal>> {
  const fileName = `${name}.json`;
  const missing = failed<Refusal>({ fileName, reason: { code: "sample_missing" } });
  const text = await ports.loadSample(name);
  if (!text.ok) return missing;
  const title = ports.sampleTitle?.(name);
  const opened = openWorkflow(text.value, title === undefined ? fileName : undefined, { name: title });
  if (!opened.ok) return opened;
  const valueOf = ports.shipsPictures ? shippedName : (picture: string) => ports.sendSamplePicture?.(picture);
  const whole = await withSamplePictures(opened.value, valueOf);
  return whole.ok ? whole : missing;
}

async function openStored(path: string, ports: ArrivalPorts): Promise<Result<OpenedFile, Refusal>> {
  const fileName = path.slice(path.lastIndexOf("/") + 1);
  const source = await ports.readStored(path);
  if (!source.ok) return unread(source.failure, fileName);
  const opened = await openFile(source.value, ports, { name: fileName });
  // Saving writes a graph, so only a plain graph remembers its path: saving must not overwrite the editor's own file unasked.
  return opened.ok && !opened.value.rawTexts && /\.json$/i.test(path) ? ok({ ...opened.value, stored: path }) : opened;
}

async function openCarrier(id: string, ports: ArrivalPorts): Promise<Result<OpenedFile, Refusal>> {
  const asset = await ports.readAsset(id);
  if (!asset.ok) return unread(asset.failure, id.slice(0, SHORT_ID));
  const view = toAssetView(asset.value);
  const source = await ports.readFile(view);
  return source.ok ? openFile(source.value, ports, { name: view.name, type: view.mimeType }) : unread(source.failure, view.name);
}

function unread(failure: Failure, fileName: string) {
  return failed<Refusal>({ fileName, reason: failure.status === 404 ? { code: "file_gone" } : { code: "unread", failure } });
}
