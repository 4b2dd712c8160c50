// Adds the console's own fields to jobs: workflow names, labels, submitters, node class names and expected durations.

import "server-only";
import { asObject, asText, isObject } from "@/lib/contract/json/json";
import { type Operation } from "@/lib/contract/operation";
import { truncateText } from "@/lib/contract/plain-line";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { maskText } from "@/lib/contract/secrets/secret-texts";
import { getNameInExtraData } from "@/lib/contract/workflow/workflow-name";
import { type Composition, type Dependencies } from "../composition-type";
import { findExpectedRuns } from "../job-index/expected-runs";
import { buildClassIndex } from "../upstream/response-reader";
import { listClasses } from "./seen-names";

const MAX_ID_LENGTH = 200;

type NameSource = { composition: Composition; connection: { id: string }; apiKey: string | undefined };

/** `value` is masked, and so are the added fields. `body` is the JSON body of the call, if any. */
export async function addWorkflowNames<T>(operation: Operation, source: NameSource, value: T, body?: unknown): Promise<T>;
export async function addWorkflowNames(operation: Operation, source: NameSource, value: unknown, body?: unknown): Promise<unknown> {
  const { composition, connection } = source;
  if (operation.subject === "submission")
    await recordNames(composition, connection.id, getSubmittedWorkflowId(body), getNameInExtraData(asObject(body)?.extra_data));
  if (operation.subject === "nodes") composition.classNames.record(connection.id, buildClassIndex(value));
  if (operation.subject === "job")
    await recordNames(
      composition,
      connection.id,
      asObject(value)?.workflow_id,
      getNameInExtraData(asObject(asObject(value)?.workflow)?.extra_data),
    );
  const response = await addResponseFields(operation, source, value);
  composition.seenNames.record(connection.id, response);
  return response;
}

async function addResponseFields(operation: Operation, source: NameSource, value: unknown): Promise<unknown> {
  const listField = operation.subject === "jobs" || operation.subject === "history" ? operation.subject : undefined;
  const rows: unknown = listField && asObject(value)?.[listField];
  if (listField && isObject(value) && Array.isArray(rows)) return { ...value, [listField]: await addJobFields(source, rows) };
  if (operation.subject === "job") {
    const classNames = source.composition.classNames.find(source.connection.id, listClasses(value));
    const [job] = await addJobFields(source, [value]);
    const id = asText(asObject(value)?.id);
    const reruns = id === undefined ? [] : await source.composition.store.jobLabels.listReruns(source.connection.id, id);
    return isObject(job) ? { ...job, class_names: classNames, reruns: reruns.length > 0 ? maskSecrets(reruns) : undefined } : job;
  }
  return value;
}

async function recordNames(
  { log, store }: Dependencies<"log" | "store">,
  connectionId: string,
  workflowId: unknown,
  requestedName: string | undefined,
): Promise<void> {
  const id = asText(workflowId);
  const name = requestedName && maskText(requestedName);
  if (!id || !name || id.length > MAX_ID_LENGTH) return;
  try {
    await store.workflowNames.record(connectionId, id, name);
  } catch (err) {
    // The job is already accepted, and a failure now could cause a second submission.
    log.error({ err, connectionId }, "workflow name write failed");
  }
}

function getSubmittedWorkflowId(body: unknown): unknown {
  return asObject(asObject(asObject(asObject(body)?.extra_data)?.extra_pnginfo)?.workflow)?.id;
}

const MAX_EXCERPT_LENGTH = 120;

/** Returns the first text with more than one word or a non-ASCII character, on one line. */
function toExcerpt(texts: string | undefined): string | undefined {
  const line = texts?.split("\n").find((text) => /\s|[^\p{ASCII}]/u.test(text.trim()));
  return line === undefined ? undefined : truncateText(line.trim().replaceAll(/\s+/gu, " "), MAX_EXCERPT_LENGTH);
}

async function addJobFields({ composition, connection: { id: connectionId }, apiKey }: NameSource, jobs: unknown[]): Promise<unknown[]> {
  const secrets = apiKey === undefined ? [] : [apiKey];
  const { workflowNames, jobLabels, jobIndexStore, audit } = composition.store;
  const getWorkflowId = (job: unknown) => asText(asObject(job)?.workflow_id);
  const getJobId = (job: unknown) => asText(asObject(job)?.id) ?? asText(asObject(job)?.prompt_id);
  const ids = jobs.flatMap((job) => getJobId(job) ?? []);
  const [names, labels, submitters, expectedRuns] = await Promise.all([
    workflowNames.list(connectionId, [...new Set(jobs.flatMap((job) => getWorkflowId(job) ?? []))]),
    jobLabels.list(connectionId, ids),
    audit.findFirstActors("submitPrompt", ids, connectionId),
    findExpectedRuns(composition, connectionId, jobs),
  ]);
  const idsWithoutName = jobs.flatMap((job) => (names.has(getWorkflowId(job) ?? "") ? [] : (getJobId(job) ?? [])));
  const excerpts = await jobIndexStore.listExcerpts(connectionId, idsWithoutName);
  return jobs.map((job) => {
    if (!isObject(job)) return job;
    const excerpt = toExcerpt(excerpts.get(getJobId(job) ?? ""));
    const [name, label, submitter] = [
      names.get(getWorkflowId(job) ?? ""),
      labels.get(getJobId(job) ?? ""),
      submitters.get(getJobId(job) ?? ""),
    ];
    const expectedRun = expectedRuns.get(getJobId(job) ?? "");
    const isInJob = (field: string) => field in job;
    if (
      !name &&
      !label &&
      !submitter &&
      !expectedRun &&
      excerpt === undefined &&
      !["submitted_by", "submitted_token", "rerun_of", "prompt_excerpt", "search_match", "expected_run"].some(isInJob)
    )
      return job;
    const addedFields = {
      ...(name !== undefined && { workflow_name: name }),
      ...(label?.label !== undefined && { job_label: label.label }),
      prompt_excerpt: excerpt,
      search_match: undefined,
      rerun_of: label?.rerunOf,
      submitted_by: submitter?.name,
      submitted_token: submitter?.token,
      expected_run: expectedRun,
    };
    return { ...job, ...maskSecrets(addedFields, secrets) };
  });
}
