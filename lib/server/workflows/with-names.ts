// Names of workflows: learnt from submissions through the console and from job details, added to jobs that have only an id.
// Guarantees: names are never shared between connections; an answer without jobs is unchanged; a name that cannot be stored is logged and
// fails nothing. The added fields are the console's own: `workflow_name`, `job_label` (of a copy of a run), `rerun_of`, `submitted_by` and
// `submitted_token` (from the console's log, whatever a service sends under these names) and, only in details, `class_names` and `reruns`.

import "server-only";
import { isObject, objectOf, textOf } from "@/lib/contract/json/json";
import { type Operation } from "@/lib/contract/operation";
import { maskText } from "@/lib/contract/secrets/secret-texts";
import { nameInExtraData } from "@/lib/contract/workflow/workflow-name";
import { composition } from "../composition";
import { classesIn, classNamesIn } from "./seen-names";

const LONGEST_ID = 200;

/** `sent` is the JSON body of the call, if it had one. */
export async function withNames<T>(operation: Operation, connectionId: string, value: T, sent?: unknown): Promise<T>;
export async function withNames(operation: Operation, connectionId: string, value: unknown, sent?: unknown): Promise<unknown> {
  if (operation.tells === "submission") await learn(connectionId, submittedId(sent), nameInExtraData(objectOf(sent)?.extra_data));
  if (operation.tells === "nodes") learnClassNames(connectionId, value);
  if (operation.tells === "job") await learn(connectionId, objectOf(value)?.workflow_id, nameOfWorkflow(value));
  const answer = await put(operation, connectionId, value);
  composition().seenNames.learn(connectionId, answer);
  return answer;
}

async function put(operation: Operation, connectionId: string, value: unknown): Promise<unknown> {
  const list = operation.tells === "jobs" || operation.tells === "history" ? operation.tells : undefined;
  const rows: unknown = list && objectOf(value)?.[list];
  if (list && isObject(value) && Array.isArray(rows)) return { ...value, [list]: await named(connectionId, rows) };
  if (operation.tells === "job") {
    const { classNames, largeAnswers } = composition();
    const class_names = classNames.of(connectionId, largeAnswers.digestOf(value)?.classes ?? classesIn(value));
    const [job] = await named(connectionId, [value]);
    const id = textOf(objectOf(value)?.id);
    const reruns = id === undefined ? [] : await composition().store.jobLabels.rerunsOf(connectionId, id);
    return isObject(job) ? { ...job, class_names, reruns: reruns.length > 0 ? reruns : undefined } : job;
  }
  return value;
}

export function learnClassNames(connectionId: string, catalogue: unknown): void {
  const { classNames, largeAnswers } = composition();
  classNames.learn(connectionId, largeAnswers.digestOf(catalogue)?.classNames ?? classNamesIn(catalogue));
}

/** The workflow itself may be written JSON, which is not read here. */
function nameOfWorkflow(job: unknown): string | undefined {
  const digest = composition().largeAnswers.digestOf(job);
  return digest ? digest.workflowName : nameInExtraData(objectOf(objectOf(job)?.workflow)?.extra_data);
}

async function learn(connectionId: string, workflowId: unknown, given: string | undefined): Promise<void> {
  const id = textOf(workflowId);
  const name = given && maskText(given);
  if (!id || !name || id.length > LONGEST_ID) return;
  const { log, store } = composition();
  try {
    await store.workflowNames.remember(connectionId, id, name);
  } catch (err) {
    // The job is already accepted: a failure now would invite a second submission.
    log.error({ err, connectionId }, "the name of a workflow was not stored");
  }
}

function submittedId(sent: unknown): unknown {
  return objectOf(objectOf(objectOf(objectOf(sent)?.extra_data)?.extra_pnginfo)?.workflow)?.id;
}

const MAX_EXCERPT = 120;

/** The first text with more than one word or a non-ASCII character, on one line. Undefined if there is none. */
function excerptOf(texts: string | undefined): string | undefined {
  const line = texts?.split("\n").find((text) => /\s|[^\p{ASCII}]/u.test(text.trim()));
  if (line === undefined) return undefined;
  const letters = Array.from(line.trim().replaceAll(/\s+/gu, " "));
  return letters.length > MAX_EXCERPT ? `${letters.slice(0, MAX_EXCERPT - 1).join("")}…` : letters.join("");
}

async function named(connectionId: string, jobs: unknown[]): Promise<unknown[]> {
  const { workflowNames, jobLabels, jobLedger, audit } = composition().store;
  const workflowOf = (job: unknown) => textOf(objectOf(job)?.workflow_id);
  const idOf = (job: unknown) => textOf(objectOf(job)?.id) ?? textOf(objectOf(job)?.prompt_id);
  const ids = jobs.flatMap((job) => idOf(job) ?? []);
  const [names, labels, submitters] = await Promise.all([
    workflowNames.list(connectionId, [...new Set(jobs.flatMap((job) => workflowOf(job) ?? []))]),
    jobLabels.list(connectionId, ids),
    audit.whoDid("submitPrompt", ids, connectionId),
  ]);
  const nameless = jobs.flatMap((job) => (names.has(workflowOf(job) ?? "") ? [] : (idOf(job) ?? [])));
  const excerpts = await jobLedger.excerpts(connectionId, nameless);
  return jobs.map((job) => {
    if (!isObject(job)) return job;
    const excerpt = excerptOf(excerpts.get(idOf(job) ?? ""));
    const [name, known, by] = [names.get(workflowOf(job) ?? ""), labels.get(idOf(job) ?? ""), submitters.get(idOf(job) ?? "")];
    const isOwnField = (field: string) => field in job;
    if (
      !name &&
      !known &&
      !by &&
      excerpt === undefined &&
      !["submitted_by", "submitted_token", "rerun_of", "prompt_excerpt", "search_match"].some(isOwnField)
    )
      return job;
    return {
      ...job,
      ...(name !== undefined && { workflow_name: name }),
      ...(known?.label !== undefined && { job_label: known.label }),
      prompt_excerpt: excerpt,
      search_match: undefined,
      rerun_of: known?.rerunOf,
      submitted_by: by?.name,
      submitted_token: by?.token,
    };
  });
}
