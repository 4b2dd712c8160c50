import { randomUUID } from "node:crypto";
import { type Selectable } from "kysely";
import { asObject, asText } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type JobEvents, type JobRecipients } from "@/lib/service/events/job-events";
import { type RunEvent } from "@/lib/service/nodes/run";
import { type Attempt, endAttempt, startAttempt, takeOverAttempt } from "@/lib/service/runners/attempts";
import { type WorkerSlot } from "@/lib/service/runners/pool";
import { type RunnerRow } from "@/lib/service/runners/store";
import { query, type Reader, type Transaction } from "@/lib/service/store/database";
import { type JobInputRow, type JobRow } from "@/lib/service/store/schema";
import { readGraph, readRecord, readResultTexts, readStrings, requireTexts } from "../job-row";
import { isTerminal, moveJob, startJob } from "../transitions";
import { toNodeOutput } from "./adopt-outputs";
import { type EngineDependencies } from "./engine-dependencies";
import { failJob } from "./finish";
import { createRunRecord, type RunRecord } from "./run-record";

/** Each progress_state lists every started node, so larger graphs don't send it. */
const MAX_PROGRESS_STATE_NODES = 500;

type RunReporter = ReturnType<typeof createRunReporter>;

function createRunReporter(events: JobEvents, job: { id: string; seq: number; nodeCount: number } & JobRecipients) {
  const prompt_id = job.id;
  const finishedNodes = new Set<string>();
  const reportedNodes = new Set<string>();
  let isOver = false;
  let newestStep: { value: number; max: number; prompt_id: string; node: string } | undefined;

  const notify = (type: string, data: object) => events.notify(job, type, data);

  function sendExecuted(node: string, output: unknown): void {
    reportedNodes.add(node);
    notify("executed", { node, display_node: node, output, prompt_id });
  }

  function sendState(step: { nodeId: string; value: number; max: number }): void {
    if (job.nodeCount > MAX_PROGRESS_STATE_NODES) return;
    const nodes = [...finishedNodes].map((nodeId) => [nodeId, toNodeState(nodeId, "finished", 1, 1)] as const);
    notify("progress_state", {
      prompt_id,
      nodes: Object.fromEntries([...nodes, [step.nodeId, toNodeState(step.nodeId, "running", step.value, step.max)]]),
    });
  }
  const toNodeState = (node_id: string, state: string, value: number, max: number) => ({
    value,
    max,
    state,
    node_id,
    display_node_id: node_id,
    real_node_id: node_id,
    parent_node_id: null,
    prompt_id,
  });

  return {
    reportStart(startMs: number): void {
      notify("execution_start", { prompt_id, timestamp: startMs });
    },

    reportEvent(event: Exclude<RunEvent, { kind: "begun" | "queued" | "note" }>): void {
      // Clients that connect later also receive the state of these nodes.
      if (event.kind === "cached") for (const nodeId of event.nodeIds) finishedNodes.add(nodeId);
      if (event.kind === "node") finishedNodes.add(event.nodeId);
      if (isOver || !events.hasListeners(job)) return;
      if (event.kind === "preview") {
        // A preview has no job id. Receivers assign it to the job of the previous message.
        if (newestStep) notify("progress", newestStep);
        events.sendPreview(job, event.bytes);
      } else if (event.kind === "cached") {
        notify("execution_cached", { nodes: event.nodeIds, prompt_id, timestamp: event.at });
      } else if (event.kind === "start") {
        newestStep = { value: 0, max: 1, prompt_id, node: event.nodeId };
        notify("executing", { node: event.nodeId, display_node: event.nodeId, prompt_id });
        sendState({ nodeId: event.nodeId, value: 0, max: 1 });
      } else if (event.kind === "progress") {
        const { currentNode: node, step = 0, steps } = event;
        if (steps === undefined) return;
        newestStep = { value: step, max: steps, prompt_id, node };
        notify("progress", newestStep);
        sendState({ nodeId: node, value: step, max: steps });
      } else {
        const output = toNodeOutput(event);
        if (output) sendExecuted(event.nodeId, output);
      }
    },

    async reportEnd(reader: Reader): Promise<void> {
      if (isOver) return;
      isOver = true;
      if (!events.hasListeners(job)) return;
      const row = await reader.row(query.selectFrom("jobs").select("state").where("seq", "=", job.seq));
      const resultTexts = row && isTerminal(row.state) ? (await readResultTexts(reader, [job.seq])).get(job.seq) : undefined;
      if (!resultTexts) return;
      const result = requireTexts(resultTexts);
      for (const [node, output] of Object.entries(asObject(parseExactJson(result.outputs)) ?? {}))
        if (!reportedNodes.has(node)) sendExecuted(node, output);
      const messages = parseExactJson(result.messages);
      const lastMessage: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
      if (Array.isArray(lastMessage) && typeof lastMessage[0] === "string") notify(lastMessage[0], asObject(lastMessage[1]) ?? {});
      events.notifyQueueChanged(job.userId);
      notify("executing", { node: null, prompt_id });
    },
  };
}

type ClaimedJob = {
  seq: number;
  id: string;
  userId: number;
  attempts: number;
  slot: string;
  fence: number;
  needs: number | null;
  /** Undefined for the built-in runner. */
  remote?: { runner: RunnerRow; attempt: Attempt; isResumed: boolean };
  startMs: number;
  /** False until a remote runner starts the job, which stays pending until then. */
  isStarted: boolean;
  graph: Graph;
  promptText: string;
  outputs: string[];
  extraData: Record<string, unknown>;
  images: { name: string; hash: string }[];
};

export type ActiveRun = Omit<ClaimedJob, "isStarted"> & {
  isStarted(): boolean;
  markStarted(startMs: number): void;
  record: RunRecord;
  reporter: RunReporter;
  cancel(): void;
  detach(): void;
  end(): void;
  endPromise: Promise<void>;
  attachRun(run: { cancel(): void; detach?(): void }): void;
};

function createActiveRun(job: ClaimedJob, events: JobEvents): ActiveRun {
  let isCancelRequested = false;
  let isDetached = false;
  let currentRun: { cancel(): void; detach?(): void } | undefined;
  const { seq, id, userId, extraData } = job;
  const clientId = asText(extraData.client_id);
  const record = createRunRecord(id, job.graph, job.outputs, job.startMs);
  const reporter = createRunReporter(events, { id, seq, userId, clientId, nodeCount: Object.keys(job.graph).length });
  let { isStarted } = job;
  let end: () => void = () => undefined;
  const endPromise = new Promise<void>((resolve) => (end = resolve));
  return {
    ...job,
    record,
    reporter,
    isStarted: () => isStarted,
    markStarted(startMs) {
      isStarted = true;
      record.markStarted(startMs);
      reporter.reportStart(startMs);
    },
    cancel() {
      isCancelRequested = true;
      currentRun?.cancel();
    },
    detach() {
      isDetached = true;
      currentRun?.detach?.();
    },
    end: () => end(),
    endPromise,
    attachRun(run) {
      currentRun = run;
      if (isCancelRequested) run.cancel();
      else if (isDetached) run.detach?.();
    },
  };
}

type ClaimDependencies = Pick<EngineDependencies, "now" | "log" | "processes" | "events">;

/** Returns undefined if the job is no longer waiting or its row is damaged. A job on a runner stays pending until the runner starts it. */
export async function claimJob(
  tx: Transaction,
  dependencies: ClaimDependencies,
  seq: number,
  { runner, slot }: WorkerSlot,
): Promise<ActiveRun | undefined> {
  const { now, processes } = dependencies;
  const job = await tx.row(
    query.selectFrom("jobs").innerJoin("job_inputs", "job_inputs.job_seq", "seq").selectAll().where("seq", "=", seq),
  );
  if (job?.state !== "pending" || job.slot !== null) return undefined;
  const startMs = Math.max(now(), job.create_time);
  const attempts = job.attempts + 1;
  const fence = job.fence + 1;
  const isRemote = runner.address !== null;
  const claimFields = { attempts, slot, fence, runner: isRemote ? runner.id : null, holder: processes.id };
  if (isRemote) await tx.run(query.updateTable("jobs").set(claimFields).where("seq", "=", seq).where("state", "=", "pending"));
  else await moveJob(tx, { seq, from: "pending", to: "in_progress", at: startMs }, { ...claimFields, start_time: startMs });
  const attempt = { seq, number: attempts, fence, promptId: randomUUID(), clientId: randomUUID() };
  if (isRemote) {
    await startAttempt(tx, attempt, runner.id, startMs);
    if (job.needs !== null) await tx.run(query.updateTable("runners").set({ last_needs: job.needs }).where("id", "=", runner.id));
  }
  return readClaimedJob(tx, dependencies, job, {
    attempts,
    fence,
    slot,
    startMs,
    isStarted: !isRemote,
    ...(isRemote && { remote: { runner, attempt, isResumed: false } }),
  });
}

type ClaimDetails = Pick<ClaimedJob, "attempts" | "fence" | "slot" | "startMs" | "isStarted" | "remote">;
type JoinedRow = Selectable<JobRow> & Selectable<JobInputRow>;

export async function resumeJob(tx: Transaction, dependencies: ClaimDependencies, seq: number): Promise<ActiveRun | undefined> {
  const claimedAttempt = await takeOverAttempt(tx, dependencies.processes, seq);
  const job = await tx.row(
    query.selectFrom("jobs").innerJoin("job_inputs", "job_inputs.job_seq", "seq").selectAll().where("seq", "=", seq),
  );
  const runner = claimedAttempt && (await tx.row(query.selectFrom("runners").selectAll().where("id", "=", claimedAttempt.runner)));
  if (!claimedAttempt || !job || !runner) return undefined;
  const startMs = job.start_time ?? dependencies.now();
  const isStarted = job.state === "in_progress";
  const details = { attempts: job.attempts, fence: claimedAttempt.fence, slot: job.slot ?? runner.label, startMs, isStarted };
  return readClaimedJob(tx, dependencies, job, { ...details, remote: { runner, attempt: claimedAttempt, isResumed: true } });
}

async function readClaimedJob(
  tx: Transaction,
  { now, log, events }: ClaimDependencies,
  job: JoinedRow,
  details: ClaimDetails,
): Promise<ActiveRun | undefined> {
  const { seq, needs } = job;
  const images = await tx.rows(query.selectFrom("job_images").select(["name", "hash"]).where("job_seq", "=", seq));
  try {
    const extraData = readRecord(job.extra_data);
    const outputs = readStrings(job.outputs_to_execute);
    const graph = readGraph(job, details.remote !== undefined);
    const claimedJob = {
      seq,
      id: job.id,
      userId: job.user_id,
      needs,
      ...details,
      graph,
      promptText: job.prompt,
      outputs,
      extraData,
      images,
    };
    return createActiveRun(claimedJob, events);
  } catch (error) {
    log.error({ err: error, job: job.id }, "stored job invalid");
    if (!details.isStarted) await startJob(tx, { seq, fence: details.fence }, now());
    await failJob(
      tx,
      { ...job, fence: details.fence },
      "DamagedJob",
      "The stored job is damaged, so it cannot run. Submit it again.",
      now(),
    );
    if (details.remote) await endAttempt(tx, { seq, fence: details.fence }, "lost", now());
    return undefined;
  }
}
