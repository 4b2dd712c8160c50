// Extracts job index entries from upstream responses.

import "server-only";
import { toJobState } from "@/lib/contract/jobs/job-list";
import { asObject, asText, getOwn, isObject, type JsonObject } from "@/lib/contract/json/json";
import { type Subject } from "@/lib/contract/operation";
import { type HistoryResponse, type JobDetail, type JobListItem, type JobsResponse, type JobStatus } from "@/lib/contract/schemas/job";
import { MASK } from "@/lib/contract/secrets/secret-texts";
import { toMilliseconds } from "@/lib/contract/times";
import { choosePreview, toHistoryJob, toListedError } from "@/lib/contract/views/job-view";
import { listOutputs, type OutputView, toPreviewView } from "@/lib/contract/views/outputs-view";
import { isLink } from "@/lib/contract/workflow/graph";
import { type JobUpdate } from "../store/jobs/index-entry";

const MAX_TEXTS_LENGTH = 4096;
const MAX_INPUT_CHARACTERS = 2048;
const MAX_TEXTS = 5000;
const MAX_DEPTH = 5;
const MAX_POSITIVE_NODES = 50;
const PROMPT_INPUT_PATTERN = /text|prompt|string|value|wildcard/i;

export function collectTexts(graph: unknown): string {
  if (!isObject(graph)) return "";
  const texts = new Set<string>(collectPositiveTexts(graph));
  for (const node of Object.values(graph)) {
    if (texts.size >= MAX_TEXTS) break;
    if (isObject(node)) addTexts(node.inputs, texts, 0);
  }
  const isSentence = (text: string) => /\s|[^\p{ASCII}]/u.test(text);
  const sortedTexts = [...[...texts].filter(isSentence), ...[...texts].filter((text) => !isSentence(text))];
  let combinedText = "";
  for (const text of sortedTexts) {
    if (combinedText.length >= MAX_TEXTS_LENGTH) break;
    combinedText +=
      (combinedText === "" ? "" : "\n") + text.slice(0, Math.min(MAX_INPUT_CHARACTERS, MAX_TEXTS_LENGTH - combinedText.length));
  }
  return combinedText;
}

/** Collects texts connected to an input named "positive", as in samplers. */
function collectPositiveTexts(graph: JsonObject): Set<string> {
  const texts = new Set<string>();
  // Set iteration also visits ids that are added during the loop, each only once.
  const ids = new Set(Object.values(graph).flatMap((node) => getSourceIds(asObject(asObject(node)?.inputs)?.positive)));
  let visitedCount = 0;
  for (const id of ids) {
    if (++visitedCount > MAX_POSITIVE_NODES) break;
    for (const [name, value] of Object.entries(asObject(asObject(getOwn(graph, id))?.inputs) ?? {})) {
      if (isLink(value)) for (const source of getSourceIds(value)) ids.add(source);
      else if (PROMPT_INPUT_PATTERN.test(name)) addTexts(value, texts, MAX_DEPTH);
    }
  }
  return texts;
}

const getSourceIds = (value: unknown): string[] => (isLink(value) ? [String(value[0])] : []);

function addTexts(value: unknown, texts: Set<string>, depth: number): void {
  if (typeof value === "string") {
    const text = value.trim();
    if (text !== "" && text !== MASK && !text.startsWith("data:")) texts.add(text);
  } else if (Array.isArray(value)) {
    if (!isLink(value) && depth < MAX_DEPTH) for (const item of value) addTexts(item, texts, depth + 1);
  } else if (isObject(value) && depth < MAX_DEPTH) {
    for (const item of Object.values(value)) addTexts(item, texts, depth + 1);
  }
}

type JobResponse =
  | { subject: "jobs"; value: JobsResponse }
  | { subject: "history"; value: HistoryResponse }
  | { subject: "job"; value: JobDetail }
  | { subject: "jobStatus"; value: JobStatus }
  | { subject: "submission"; jobId: string; requestBody: unknown; memberId: string; token?: string; atMs: number };

type RequestFields = { requestBody?: unknown; memberId?: string; token?: string; atMs?: number };

const MAX_FIELD_LENGTH = 500;

export function toJobResponse(
  subject: Subject,
  value: unknown,
  { requestBody, memberId, token, atMs }: RequestFields = {},
): JobResponse | undefined {
  if (subject === "jobs" && isJobs(value)) return { subject, value };
  if (subject === "history" && isHistory(value)) return { subject, value };
  if (subject === "job" && isJob(value)) return { subject, value };
  if (subject === "jobStatus" && isStatus(value)) return { subject, value };
  const jobId = asText(asObject(value)?.prompt_id) ?? asText(asObject(value)?.job_id);
  const isSubmission = subject === "submission" && jobId !== undefined && memberId !== undefined && atMs !== undefined;
  return isSubmission ? { subject, jobId, requestBody, memberId, token, atMs } : undefined;
}

// The operation's schema has already validated the value. These only detect its kind.
const isJobs = (value: unknown): value is JobsResponse => isObject(value) && Array.isArray(value.jobs);
const isHistory = (value: unknown): value is HistoryResponse => isObject(value) && Array.isArray(value.history);
const isJob = (value: unknown): value is JobDetail => isObject(value) && typeof value.status === "string";
const isStatus = (value: unknown): value is JobStatus => isObject(value) && typeof value.status === "string";

export function toJobUpdates(response: JobResponse): JobUpdate[] {
  switch (response.subject) {
    case "jobs":
      return response.value.jobs.map((job) => ({ ...toJobUpdate(job), isExact: true }));
    case "history":
      return response.value.history.map((entry) => {
        const { job, files } = toHistoryJob(entry);
        // The number of outputs comes from the job list, because services count texts differently.
        const update = toJobUpdate({ ...job, preview_output: toListedPreview(choosePreview(files)) });
        return { ...update, isExact: true, kinds: listKinds(files) };
      });
    case "job": {
      const { workflow, outputs } = response.value;
      const update = toJobUpdate(response.value);
      return [
        { ...update, kinds: [...(update.kinds ?? []), ...listKinds(listOutputs(outputs))], inputs: collectTexts(getGraph(workflow)) },
      ];
    }
    case "jobStatus": {
      const { id, status, error_message: message } = response.value;
      const error = toJobState(status) === "failed" ? toListedError(message) : undefined;
      return [{ jobId: id, isUpdateOnly: true, item: { status, ...(error && { execution_error: error }) } }];
    }
    case "submission":
      return [toSubmissionUpdate(response)];
  }
}

function toSubmissionUpdate({ jobId, requestBody, memberId, token, atMs }: Extract<JobResponse, { subject: "submission" }>): JobUpdate {
  const body = asObject(requestBody);
  const pngInfo = asObject(asObject(body?.extra_data)?.extra_pnginfo);
  const workflowId = asText(asObject(pngInfo?.workflow)?.id)?.slice(0, MAX_FIELD_LENGTH);
  const item = { status: "pending", workflow_id: workflowId };
  return { jobId, item, createdMs: atMs, memberId, ...(token !== undefined && { token }), inputs: collectTexts(body?.prompt) };
}

function toJobUpdate(job: JobListItem | JobDetail): JobUpdate {
  const preview = toPreviewView(job.preview_output);
  return {
    jobId: job.id,
    createdMs: toMilliseconds(job.create_time),
    kinds: preview ? listKinds([preview]) : [],
    item: {
      status: job.status.slice(0, MAX_FIELD_LENGTH),
      workflow_id: job.workflow_id?.slice(0, MAX_FIELD_LENGTH),
      runner_id: job.runner_id?.slice(0, MAX_FIELD_LENGTH),
      outputs_count: job.outputs_count,
      execution_start_time: job.execution_start_time,
      execution_end_time: job.execution_end_time,
      preview_output: toListedPreview(preview),
      execution_error: toListedError(job.execution_error),
    },
  };
}

/** List rows load previews by file, so an output without a file has no preview. */
function toListedPreview(preview: OutputView | undefined): JobListItem["preview_output"] {
  if (!preview?.file) return undefined;
  const { filename, subfolder, type } = preview.file;
  if (filename.length > MAX_FIELD_LENGTH || subfolder.length > MAX_FIELD_LENGTH) return undefined;
  return {
    filename,
    subfolder,
    type,
    nodeId: preview.nodeId,
    mediaType: preview.key,
    display_name: preview.name.slice(0, MAX_FIELD_LENGTH),
  };
}

function listKinds(outputs: readonly OutputView[]): string[] {
  return [...new Set(outputs.map(({ kind }) => kind))];
}

function getGraph(workflow: unknown): unknown {
  return isObject(workflow) && isObject(workflow.prompt) ? workflow.prompt : workflow;
}
