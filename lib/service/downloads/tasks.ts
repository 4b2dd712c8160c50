// Runs download tasks in the background: created → running → completed | failed | cancelled.
// Each task runs in one process. If another process cancels it, it stops within two seconds and removes its partial file.

import { readdir } from "node:fs/promises";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type ServiceLog } from "../options";
import { ServiceError, toErrorBody } from "../service-error";
import { type Processes } from "../store/processes";
import { isTaskLost, removePart, type RunDependencies, runDownload } from "./run-download";
import {
  claimTask,
  countUnfinishedTasks,
  endTask,
  findNextTask,
  insertTask,
  listRunningTasks,
  listUnfinishedParts,
  type NewDownload,
  releaseTask,
  type RunningTask,
  type StoredTask,
} from "./task-rows";

export type TaskDependencies = RunDependencies & { maxConcurrent: number; processes: Processes; log: ServiceLog };

const MAX_UNFINISHED_PER_USER = 1000;
const WAKE_CHANNEL = "downloads wait";

type RunningDownload = { controller: AbortController; completion: Promise<void> };

export function createTasks(dependencies: TaskDependencies) {
  const { database, processes, now, log } = dependencies;
  const runningDownloads = new Map<string, RunningDownload>();
  let isOpen = false;
  let pendingClaim: Promise<void> | undefined;
  let isClaimDue = false;

  function claimWaitingTasks(): void {
    isClaimDue = true;
    pendingClaim ??= claimAll()
      .catch((error: unknown) => log.warn({ err: error }, "download claim failed"))
      .finally(() => {
        pendingClaim = undefined;
        if (isClaimDue && isOpen) claimWaitingTasks();
      });
  }

  async function claimAll(): Promise<void> {
    while (isClaimDue && isOpen) {
      isClaimDue = false;
      while (isOpen && runningDownloads.size < dependencies.maxConcurrent && (await findNextTask(database))) {
        const task = await database.commit((tx) => claimTask(tx, processes.id, now()));
        if (!task) break;
        startTask(task);
      }
    }
  }

  function startTask(task: StoredTask): void {
    const controller = new AbortController();
    const completion = runTask(task, controller.signal).finally(() => {
      runningDownloads.delete(task.id);
      if (isOpen) claimWaitingTasks();
    });
    runningDownloads.set(task.id, { controller, completion });
  }

  async function runTask(task: StoredTask, signal: AbortSignal): Promise<void> {
    try {
      await runDownload(dependencies, task, signal, () => !isOpen);
    } catch (error) {
      if (!isOpen || isTaskLost(error) || signal.aborted) return;
      if (!toErrorBody(error)) log.error({ err: error, task: task.id }, "download failed");
      await database
        .commitWithReserve((tx) => endTask(tx, task, toFailedFields(error), now()))
        .catch((storeError: unknown) => log.error({ err: storeError, task: task.id }, "download result write failed"));
    }
  }

  async function reclaimTasks(): Promise<void> {
    const previousDownloads = [...runningDownloads];
    const runningTasks = await listRunningTasks(database);
    const ownTaskIds = new Set(runningTasks.filter(({ holder }) => holder === processes.id).map(({ id }) => id));
    for (const [id, { controller }] of previousDownloads) if (!ownTaskIds.has(id)) controller.abort();
    const liveProcesses = await processes.listLive();
    const orphanedTasks = runningTasks.filter(({ id, holder }) =>
      // Includes tasks of this process whose result could not be stored.
      holder === processes.id ? !runningDownloads.has(id) && !pendingClaim : holder === null || !liveProcesses.includes(holder),
    );
    if (orphanedTasks.length > 0) await releaseTasks(orphanedTasks);
    claimWaitingTasks();
  }

  async function releaseTasks(tasks: readonly RunningTask[]): Promise<void> {
    await database.commitWithReserve(async (tx) => {
      for (const task of tasks) await releaseTask(tx, task, now());
    });
  }

  async function sweep(): Promise<void> {
    const names = await readdir(dependencies.folder);
    const partNames = await listUnfinishedParts(database);
    for (const name of names) if (!partNames.has(name)) await removePart(dependencies, name);
  }

  return {
    reclaimTasks,
    sweep,

    async start(): Promise<void> {
      isOpen = true;
      processes.listen(WAKE_CHANNEL, claimWaitingTasks, claimWaitingTasks);
      await sweep();
      await reclaimTasks();
    },

    async create(userId: number, download: NewDownload): Promise<StoredTask> {
      const task = await database.commit(async (tx) => {
        if ((await countUnfinishedTasks(tx, userId)) >= MAX_UNFINISHED_PER_USER)
          throw new ServiceError(
            "RATE_LIMITED",
            `You have ${MAX_UNFINISHED_PER_USER} unfinished downloads already. Wait for some of them to end.`,
          );
        // Another process may have a free slot if this one has none.
        if (runningDownloads.size >= dependencies.maxConcurrent) await processes.notify(WAKE_CHANNEL, null, tx);
        return insertTask(tx, userId, download, now());
      });
      claimWaitingTasks();
      return task;
    },

    async cancel({ id }: StoredTask): Promise<boolean> {
      const task = await database.commitWithReserve((tx) => endTask(tx, { id }, toCancelledFields(), now()));
      if (!task) return false;
      const download = runningDownloads.get(id);
      download?.controller.abort();
      await download?.completion;
      await removePart(dependencies, task.part ?? id);
      return true;
    },

    /** Releases the running tasks, which another process or the next start continues. */
    async stop(): Promise<void> {
      isOpen = false;
      await pendingClaim;
      const stoppedDownloads = [...runningDownloads];
      for (const [, { controller }] of stoppedDownloads) controller.abort();
      await Promise.all(stoppedDownloads.map(([, { completion }]) => completion));
      if (stoppedDownloads.length === 0) return;
      await releaseTasks(stoppedDownloads.map(([id]) => ({ id, holder: processes.id }))).catch((error: unknown) =>
        log.warn({ err: error }, "download release failed"),
      );
    },
  };
}

function toCancelledFields(): Partial<StoredTask> {
  const message = "The download was cancelled.";
  return { status: "cancelled", error_message: message, result: writeExactJson({ success: false, error: message }) };
}

function toFailedFields(error: unknown): Partial<StoredTask> {
  const { code, message } = toErrorBody(error) ?? { code: "INTERNAL", message: "The download failed inside the service." };
  return { status: "failed", error_message: message, result: writeExactJson({ success: false, error: message, code }) };
}
