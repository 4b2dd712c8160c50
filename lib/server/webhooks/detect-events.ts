// Detects the events of one connection by comparing its current state with the stored one.

import "server-only";
import { createHash } from "node:crypto";
import { z } from "zod";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { toJobState } from "@/lib/contract/jobs/job-list";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, getOwn, isObject } from "@/lib/contract/json/json";
import { operations } from "@/lib/contract/operations";
import { type JobListItem } from "@/lib/contract/schemas/job";
import { formatErrorLine, type JobErrorView, toJobView } from "@/lib/contract/views/job-view";
import { type WebhookEvent } from "@/lib/contract/webhook-events";
import { type WebhookPayload } from "@/lib/contract/webhooks";
import { type Composition } from "../composition-type";
import { type BackgroundAccess } from "../connections/access";
import { getConsoleUrl } from "../env";
import { collectTexts } from "../job-index/job-updates";
import { requestRedacted } from "../responses/process-response";
import { type Connection } from "../store/connections";
import { type NewDelivery, type Webhook } from "../store/webhooks";
import { isEmbedded } from "../upstream/send";
import { RETRY_PERIOD_MS } from "./deliver";
import { batchesStateSchema, findEndedBatches, findEndedJobs, jobsStateSchema } from "./detect-jobs";

const BUSY_INTERVAL_MS = 2000;
const IDLE_INTERVAL_MS = 10_000;
const DOWN_INTERVAL_MS = 15_000;
const MAX_WAIT_MS = 60_000;
/** Fewer failures may be caused by a restart. */
const MIN_FAILURES_UNTIL_DOWN = 3;
const MAX_PROMPT_LENGTH = 200;
/** An error message that contains this much of a prompt quotes it. */
const MIN_QUOTE_LENGTH = 60;

export const watchStateSchema = z.object({
  /** When it was last stored, accurate to a minute. */
  atMs: z.number(),
  /** URL and key of the service, because ids are valid only there. */
  place: z.string(),
  jobs: jobsStateSchema.optional(),
  batches: batchesStateSchema.optional(),
  failing: z.object({ sinceMs: z.number(), count: z.int(), isTold: z.boolean() }).optional(),
  /** When runners became unreachable, by id. */
  runners: z.record(z.string(), z.number()),
});
type WatchState = z.output<typeof watchStateSchema>;
/** `id` is the same for every detection of the event. */
type DetectedEvent = { id: readonly (string | number)[]; payload: WebhookPayload; prompt?: string };
type CheckResult = { state: WatchState; detectedEvents: DetectedEvent[]; waitMs: number };

type CheckInput = { composition: Composition; webhooks: readonly Webhook[]; before: WatchState | undefined; signal: AbortSignal };

export async function checkConnection(input: CheckInput, access: BackgroundAccess): Promise<CheckResult> {
  const { composition, webhooks, before, signal } = input;
  const { connection, fingerprint = "" } = access;
  const { now } = composition;
  const serviceKey = `${connection.baseUrl} ${fingerprint}`;
  const previousJobs = before?.place === serviceKey ? before.jobs : undefined;
  const listedAt = now();
  const jobsResult = await findEndedJobs(access, previousJobs, signal);
  if (!jobsResult.ok) return checkFailure(input, connection, jobsResult.failure);
  const connectionRef = toConnectionRef(connection);
  const timestamp = toIso(now());
  const detectedEvents: DetectedEvent[] = [];
  if (before?.failing?.isTold) {
    const { sinceMs } = before.failing;
    const data = {
      connection: connectionRef,
      since: toIso(sinceMs),
      downMs: now() - sinceMs,
      url: toPageUrl(composition, "/", connection.id),
    };
    detectedEvents.push({ id: ["connection.up", connection.id, sinceMs], payload: { type: "connection.up", timestamp, data } });
  }
  const { ended, newestId, state: jobsState } = jobsResult.value;
  for (const job of ended) {
    const event = await toJobEvent(input, access, job, timestamp);
    if (event) detectedEvents.push(event);
  }
  const { open } = jobsState;
  const batches = webhooks.some(({ events }) => events.includes("batch.ended"))
    ? await findEndedBatches({
        jobLabels: composition.store.jobLabels,
        connectionId: connection.id,
        before: (previousJobs && before?.batches) ?? [],
        ended,
        open,
        listedAt,
      })
    : undefined;
  for (const { newestJobId, workflowId, ...batch } of batches?.ended ?? []) {
    const url = toPageUrl(composition, "/jobs", connection.id, workflowId === undefined ? {} : { workflow_id: workflowId });
    const data = { connection: connectionRef, batch, url };
    detectedEvents.push({ id: ["batch.ended", connection.id, batch.id, newestJobId], payload: { type: "batch.ended", timestamp, data } });
  }
  const wasBusy = (previousJobs?.open.length ?? 0) > 0 || ended.length > 0;
  if (wasBusy && open.length === 0) {
    const data = { connection: connectionRef, url: toPageUrl(composition, "/queue", connection.id) };
    detectedEvents.push({ id: ["queue.idle", connection.id, newestId ?? ""], payload: { type: "queue.idle", timestamp, data } });
  }
  const runnerCheck = await checkRunners(input, connection, timestamp);
  const atMs = before && now() - before.atMs < MAX_WAIT_MS ? before.atMs : now();
  const state = { atMs, place: serviceKey, jobs: jobsState, batches: batches?.state, runners: runnerCheck.state };
  return {
    state,
    detectedEvents: [...detectedEvents, ...runnerCheck.detectedEvents],
    waitMs: open.length > 0 ? BUSY_INTERVAL_MS : IDLE_INTERVAL_MS,
  };
}

export function checkFailure({ composition, before, signal }: CheckInput, connection: Connection, failure: Failure): CheckResult {
  const { now } = composition;
  // Renewed, so that a long outage remains one outage.
  const atMs = before && now() - before.atMs < MAX_WAIT_MS ? before.atMs : now();
  const state = { place: "", runners: {}, ...before, atMs };
  if (failure.code === "RATE_LIMITED" || signal.aborted)
    return { state, detectedEvents: [], waitMs: Math.min(MAX_WAIT_MS, failure.retryAfterMs ?? IDLE_INTERVAL_MS) };
  const { sinceMs = now(), count = 0, isTold = false } = state.failing ?? {};
  const isDown = count + 1 >= MIN_FAILURES_UNTIL_DOWN;
  const data = {
    connection: toConnectionRef(connection),
    since: toIso(sinceMs),
    failure: { code: failure.code, message: failure.message },
    url: toPageUrl(composition, "/settings", connection.id),
  };
  const payload = { type: "connection.down", timestamp: toIso(now()), data } as const;
  // The count is limited, so that an outage is stored once.
  const failing = { sinceMs, count: Math.min(count + 1, MIN_FAILURES_UNTIL_DOWN), isTold: isDown };
  return {
    state: { ...state, failing },
    detectedEvents: isDown && !isTold ? [{ id: ["connection.down", connection.id, sinceMs], payload }] : [],
    waitMs: isDown ? DOWN_INTERVAL_MS : BUSY_INTERVAL_MS,
  };
}

/** Only the embedded service has runners. */
async function checkRunners({ composition, webhooks, before }: CheckInput, connection: Connection, timestamp: string) {
  const isSubscribed = webhooks.some(({ events }) => events.includes("runner.down") || events.includes("runner.up"));
  const detectedEvents: DetectedEvent[] = [];
  const downSince = new Map<string, number>();
  if (!isSubscribed || !isEmbedded(connection.baseUrl)) return { detectedEvents, state: {} };
  for (const { id, label, state, reason } of await composition.serviceRunners().list()) {
    const sinceMs = getOwn(before?.runners, id);
    const isDown = state === "unreachable" || state === "set_aside";
    // A runner that is being checked or is paused is neither up nor down.
    const isUp = state === "ready" || state === "draining";
    const downMs = sinceMs ?? composition.now();
    if (isDown || (sinceMs !== undefined && !isUp)) downSince.set(id, downMs);
    const data = {
      connection: toConnectionRef(connection),
      runner: { id, label },
      since: toIso(downMs),
      url: toPageUrl(composition, "/settings/runners", connection.id),
    };
    if (isDown && sinceMs === undefined) {
      const payload = { type: "runner.down", timestamp, data: { ...data, ...(reason && { failure: reason }) } } as const;
      detectedEvents.push({ id: ["runner.down", connection.id, id, downMs], payload });
    }
    if (isUp && sinceMs !== undefined) {
      const payload = { type: "runner.up", timestamp, data: { ...data, downMs: composition.now() - sinceMs } } as const;
      detectedEvents.push({ id: ["runner.up", connection.id, id, sinceMs], payload });
    }
  }
  return { detectedEvents, state: Object.fromEntries(downSince) };
}

async function toJobEvent(
  { composition, webhooks, signal }: CheckInput,
  access: BackgroundAccess,
  job: JobListItem,
  timestamp: string,
): Promise<DetectedEvent | undefined> {
  const state = toJobState(job.status);
  if (state !== "completed" && state !== "failed") return undefined;
  const type = `job.${state}` as const;
  const recipients = webhooks.filter(({ events }) => events.includes(type));
  if (recipients.length === 0) return undefined;
  const { connection } = access;
  const view = toJobView(job);
  const texts =
    state === "failed" || recipients.some(({ includesPrompts }) => includesPrompts) ? await readTexts(access, job.id, signal) : [];
  const { createdAtMs, startedAtMs, endedAtMs, queueWaitMs, runMs, outputsCount, error } = view;
  const data = {
    connection: toConnectionRef(connection),
    job: {
      id: job.id,
      state,
      name: (job.job_label || job.workflow_name) ?? job.id,
      ...(job.job_label && { label: job.job_label }),
      ...(job.workflow_name !== undefined && { workflow: job.workflow_name }),
      ...(job.submitted_by !== undefined && { member: job.submitted_by }),
      ...(createdAtMs !== undefined && { createdAt: toIso(createdAtMs) }),
      ...(startedAtMs !== undefined && { startedAt: toIso(startedAtMs) }),
      ...(endedAtMs !== undefined && { endedAt: toIso(endedAtMs) }),
      ...(queueWaitMs !== undefined && { waitMs: queueWaitMs }),
      ...(runMs !== undefined && { runMs }),
      ...(outputsCount !== undefined && { outputs: outputsCount }),
      ...(state === "failed" && { failure: toFailure(error, texts) }),
    },
    url: toPageUrl(composition, `/jobs/${encodeURIComponent(job.id)}`, connection.id),
  };
  const [prompt] = texts ?? [];
  return { id: [type, connection.id, job.id], payload: { type, timestamp, data }, ...(prompt !== undefined && { prompt }) };
}

/** Returns the texts of the job's inputs, or undefined if the job can't be read. */
async function readTexts(access: BackgroundAccess, jobId: string, signal: AbortSignal): Promise<string[] | undefined> {
  const jobResult = await requestRedacted(operations.getJob, access, { params: { job_id: jobId }, signal, waiter: "poll" });
  if (!jobResult.ok) return undefined;
  const { workflow } = jobResult.value.value;
  const graph = isObject(workflow?.prompt) ? workflow.prompt : workflow;
  return collectTexts(asObject(graph))
    .split("\n")
    .map((text) => text.trim())
    .filter(isSentence);
}

function toPageUrl({ env }: Pick<Composition, "env">, path: string, connectionId: string, query: Record<string, string> = {}): string {
  return `${getConsoleUrl(env)}${path}?${new URLSearchParams({ ...query, [CONNECTION_PARAMETER]: connectionId }).toString()}`;
}

export function toDeliveries({ id, payload, prompt }: DetectedEvent, webhooks: readonly Webhook[], now: number): NewDelivery[] {
  const eventId = `evt_${createHash("sha256").update(writeExactJson(id)).digest("hex").slice(0, 32)}`;
  const { type } = payload;
  return webhooks
    .filter(({ events }) => events.some((event: WebhookEvent) => event === type))
    .map(({ id: webhookId, includesPrompts }) => {
      const body = writeExactJson(includesPrompts && prompt !== undefined ? addPrompt(payload, prompt) : payload);
      return { webhookId, eventId, type, body, createdAt: now, giveUpAt: now + RETRY_PERIOD_MS };
    });
}

function addPrompt(payload: WebhookPayload, prompt: string): WebhookPayload {
  if (payload.type !== "job.completed" && payload.type !== "job.failed") return payload;
  const characters = Array.from(prompt);
  const excerpt = characters.length > MAX_PROMPT_LENGTH ? `${characters.slice(0, MAX_PROMPT_LENGTH - 1).join("")}…` : prompt;
  return { ...payload, data: { ...payload.data, job: { ...payload.data.job, prompt: excerpt } } };
}

/** Removes prompts that an error message quotes. `texts` is undefined if they couldn't be read. */
function toFailure(error: JobErrorView | undefined, texts: readonly string[] | undefined): { code: string; message: string } {
  if (!error) return { code: "UNKNOWN_ERROR", message: "The service reported no reason." };
  const { lateValidation, ...errorFields } = error;
  const code = lateValidation?.code ?? (error.type || "UNKNOWN_ERROR");
  const message = lateValidation?.message ?? error.message;
  const quoteIndexes = texts?.map((text) => message.indexOf(text.slice(0, MIN_QUOTE_LENGTH))).filter((index) => index >= 0) ?? [0];
  const unquotedMessage = quoteIndexes.length > 0 ? message.slice(0, Math.min(...quoteIndexes)) : message;
  const isShortened = quoteIndexes.length > 0 && unquotedMessage.trim() !== "";
  return {
    code,
    message: formatErrorLine({ ...errorFields, message: isShortened ? `${unquotedMessage.trimEnd()}…` : unquotedMessage }),
  };
}

const isSentence = (text: string) => /\s|[^\p{ASCII}]/u.test(text);
const toConnectionRef = ({ id, name }: Connection) => ({ id, name });
const toIso = (ms: number) => new Date(ms).toISOString();
