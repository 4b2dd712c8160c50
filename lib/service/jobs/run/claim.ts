import { randomUUID } from "node:crypto";
import { type Selectable } from "kysely";
import { asObject, asText } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type JobEvents, type JobRecipients } from "@/lib/service/events/job-events";
import { type RunEvent } from "@/lib/service/nodes/run";
import { type Attempt, beginAttempt, endAttempt, takeOver } from "@/lib/service/runners/attempts";
import { type WorkerSlot } from "@/lib/service/runners/pool";
import { type RunnerRow } from "@/lib/service/runners/store";
import { query, type Reader, type Transaction } from "@/lib/service/store/database";
import { type JobInputRow, type JobRow } from "@/lib/service/store/schema";
import { readGraph, readRecord, readResultTexts, readStrings, requireTexts } from "../job-row";
import { begin, isTerminal, move } from "../transitions";
import { toNodeOutput } from "./adopt-outputs";
import { type EngineParts } from "./engine-parts";
import { failJob } from "./finish";
import { createRunRecord, type RunRecord } from "./run-record";

/** Each progress_state names every node that has begun. It is not sent for larger graphs. */
const MAX_NODES_IN_STATE = 500;

type RunReporter = ReturnType<typeof createRunReporter>;

function createRunReporter(events: JobEvents, job: { id: string; seq: number; nodes: number } & JobRecipients) {
  const prompt_id = job.id;
  const finished = new Set<string>();
  const reportedNodes = new Set<string>();
  let isOver = false;
  let newestStep: { value: number; max: number; prompt_id: string; node: string } | undefined;

  const notify = (type: string, data: object) => events.notify(job, type, data);

  function sendExecuted(node: string, output: unknown): void {
    reportedNodes.add(node);
    notify("executed", { node, display_node: node, output, prompt_id });
  }

  function sendState(running: { nodeId: string; value: number; max: number }): void {
    if (job.nodes > MAX_NODES_IN_STATE) return;
    const nodes = [...finished].map((nodeId) => [nodeId, toNodeState(nodeId, "finished", 1, 1)] as const);
    notify("progress_state", {
      prompt_id,
      nodes: Object.fromEntries([...nodes, [running.nodeId, toNodeState(running.nodeId, "running", running.value, running.max)]]),
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
    begun(startMs: number): void {
      notify("execution_start", { prompt_id, timestamp: startMs });
    },

    note(event: Exclude<RunEvent, { kind: "begun" | "queued" | "note" }>): void {
      if (isOver || !events.hasListeners(job)) return;
      if (event.kind === "preview") {
        // A preview names no job. Receivers assign it to the job of the previous message.
        if (newestStep) notify("progress", newestStep);
        events.show(job, event.bytes);
      } else if (event.kind === "cached") {
        for (const nodeId of event.nodeIds) finished.add(nodeId);
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
        finished.add(event.nodeId);
        const output = toNodeOutput(event);
        if (output) sendExecuted(event.nodeId, output);
      }
    },

    async ended(reader: Reader): Promise<void> {
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
      events.queueChanged(job.userId);
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
  isBegun: boolean;
  graph: Graph;
  promptText: string;
  outputs: string[];
  extraData: Record<string, unknown>;
  images: { name: string; hash: string }[];
};

export type Running = Omit<ClaimedJob, "isBegun"> & {
  isBegun(): boolean;
  begin(at: number): void;
  record: RunRecord;
  reporter: RunReporter;
  cancel(): void;
  leave(): void;
  end(): void;
  over: Promise<void>;
  handOver(run: { cancel(): void; leave?(): void }): void;
};

function createRunning(job: ClaimedJob, events: JobEvents): Running {
  let isCancelled = false;
  let isLeft = false;
  let currentRun: { cancel(): void; leave?(): void } | undefined;
  const { seq, id, userId, extraData } = job;
  const clientId = asText(extraData.client_id);
  const record = createRunRecord(id, job.graph, job.outputs, job.startMs);
  const reporter = createRunReporter(events, { id, seq, userId, clientId, nodes: Object.keys(job.graph).length });
  let { isBegun } = job;
  let end: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  return {
    ...job,
    record,
    reporter,
    isBegun: () => isBegun,
    begin(at) {
      isBegun = true;
      record.begin(at);
      reporter.begun(at);
    },
    cancel() {
      isCancelled = true;
      currentRun?.cancel();
    },
    leave() {
      isLeft = true;
      currentRun?.leave?.();
    },
    end: () => end(),
    over,
    handOver(run) {
      currentRun = run;
      if (isCancelled) run.cancel();
      else if (isLeft) run.leave?.();
    },
  };
}

type ClaimParts = Pick<EngineParts, "now" | "log" | "processes" | "events">;

/** Undefined if the job no longer waits, or its row is damaged. A job on a runner stays pending until the runner starts it. */
export async function claimJob(
  tx: Transaction,
  parts: ClaimParts,
  seq: number,
  { runner, slot }: WorkerSlot,
): Promise<Running | undefined> {
  const { now, processes } = parts;
  const job = await tx.row(
    query.selectFrom("jobs").innerJoin("job_inputs", "job_inputs.job_seq", "seq").selectAll().where("seq", "=", seq),
  );
  if (job?.state !== "pending" || job.slot !== null) return undefined;
  const at = Math.max(now(), job.create_time);
  const attempts = job.attempts + 1;
  const fence = job.fence + 1;
  const isRemote = runner.address !== null;
  const claimFields = { attempts, slot, fence, runner: isRemote ? runner.id : null, holder: processes.id };
  if (isRemote) await tx.run(query.updateTable("jobs").set(claimFields).where("seq", "=", seq).where("state", "=", "pending"));
  else await move(tx, { seq, from: "pending", to: "in_progress", at }, { ...claimFields, start_time: at });
  const attempt = { seq, number: attempts, fence, promptId: randomUUID(), clientId: randomUUID() };
  if (isRemote) {
    await beginAttempt(tx, attempt, runner.id, at);
    if (job.needs !== null) await tx.run(query.updateTable("runners").set({ last_needs: job.needs }).where("id", "=", runner.id));
  }
  return readClaimedJob(tx, parts, job, {
    attempts,
    fence,
    slot,
    startMs: at,
    isBegun: !isRemote,
    ...(isRemote && { remote: { runner, attempt, isResumed: false } }),
  });
}

type ClaimDetails = Pick<ClaimedJob, "attempts" | "fence" | "slot" | "startMs" | "isBegun" | "remote">;
type JoinedRow = Selectable<JobRow> & Selectable<JobInputRow>;

export async function resumeJob(tx: Transaction, parts: ClaimParts, seq: number): Promise<Running | undefined> {
  const claimedAttempt = await takeOver(tx, parts.processes, seq);
  const job = await tx.row(
    query.selectFrom("jobs").innerJoin("job_inputs", "job_inputs.job_seq", "seq").selectAll().where("seq", "=", seq),
  );
  const runner = claimedAttempt && (await tx.row(query.selectFrom("runners").selectAll().where("id", "=", claimedAttempt.runner)));
  if (!claimedAttempt || !job || !runner) return undefined;
  const startMs = job.start_time ?? parts.now();
  const isBegun = job.state === "in_progress";
  const details = { attempts: job.attempts, fence: claimedAttempt.fence, slot: job.slot ?? runner.label, startMs, isBegun };
  return readClaimedJob(tx, parts, job, { ...details, remote: { runner, attempt: claimedAttempt, isResumed: true } });
}

async function readClaimedJob(
  tx: Transaction,
  { now, log, events }: ClaimParts,
  job: JoinedRow,
  details: ClaimDetails,
): Promise<Running | undefined> {
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
    return createRunning(claimedJob, events);
  } catch (error) {
    log.error({ err: error, job: job.id }, "stored job invalid");
    if (!details.isBegun) await begin(tx, { seq, fence: details.fence }, now());
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
