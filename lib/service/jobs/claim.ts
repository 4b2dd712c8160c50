// Taking one job out of the queue of the store, and what is known of it from then on while it runs.

import { textOf } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { query } from "../store/database";
import { type JobEvents } from "../events/job-events";
import { createRunTeller, type RunTeller } from "./run-teller";
import { type EngineParts } from "./engine-parts";
import { failJob } from "./finish";
import { readGraph, readRecord, readStrings } from "./job-row";
import { createRunRecord, type RunRecord } from "./run-record";
import { move } from "./transitions";

export type Claimed = {
  seq: number;
  id: string;
  userId: number;
  attempts: number;
  slot: string;
  startMs: number;
  graph: Graph;
  outputs: string[];
  extraData: Record<string, unknown>;
  images: { name: string; hash: string }[];
};

export type Running = Pick<Claimed, "seq" | "id" | "userId" | "attempts"> & {
  record: RunRecord;
  teller: RunTeller;
  /** Ends the run soon; before it has begun, keeps it from beginning. */
  cancel(): void;
  /** Set once the runner has the job. */
  handOver(cancel: () => void): void;
};

export function createRunning(job: Claimed, events: JobEvents): Running {
  let isCancelled = false;
  let cancelRun: (() => void) | undefined;
  const { seq, id, userId, attempts, extraData } = job;
  const clientId = textOf(extraData.client_id);
  return {
    seq,
    id,
    userId,
    attempts,
    record: createRunRecord(id, job.graph, job.outputs, job.startMs),
    teller: createRunTeller(events, { id, seq, userId, clientId, nodes: Object.keys(job.graph).length }),
    cancel() {
      isCancelled = true;
      cancelRun?.();
    },
    handOver(cancel) {
      cancelRun = cancel;
      if (isCancelled) cancel();
    },
  };
}

/** Undefined when the job no longer waits, or cannot be read and has failed for that. Inside a commit. */
export function claimJob(
  { database, now, log }: Pick<EngineParts, "database" | "now" | "log">,
  seq: number,
  slot: string,
): Claimed | undefined {
  const job = database.row(
    query.selectFrom("jobs").innerJoin("job_inputs", "job_inputs.job_seq", "seq").selectAll().where("seq", "=", seq),
  );
  if (job?.state !== "pending") return undefined;
  const at = Math.max(now(), job.create_time);
  const attempts = job.attempts + 1;
  move(database, { seq, from: "pending", to: "in_progress", at }, { attempts, slot, start_time: at });
  const images = database.rows(query.selectFrom("job_images").select(["name", "hash"]).where("job_seq", "=", seq));
  try {
    const extraData = readRecord(job.extra_data);
    const outputs = readStrings(job.outputs_to_execute);
    return { seq, id: job.id, userId: job.user_id, attempts, slot, startMs: at, graph: readGraph(job), outputs, extraData, images };
  } catch (error) {
    log.error({ err: error, job: job.id }, "what is stored of a job cannot be read");
    failJob(database, job, "DamagedJob", "What the service stored of this job is damaged, so it cannot run. Submit it again.", at);
    return undefined;
  }
}
