// Runs download tasks in the background: created → running → completed | failed | cancelled.
// Each task runs in one process. If another process cancels it, it stops within two seconds and removes its partial file.

import { readdir } from "node:fs/promises";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type ServiceLog } from "../options";
import { ServiceError, toRefusal } from "../service-error";
import { type Processes } from "../store/processes";
import { isTaskLost, removePart, runDownload, type RunParts } from "./run-download";
import {
  claimTask,
  countUnfinished,
  endTask,
  findNextTask,
  insertTask,
  listRunning,
  listUnfinishedParts,
  type NewDownload,
  releaseTask,
  type RunningTask,
  type StoredTask,
} from "./task-rows";

export type TaskParts = RunParts & { atOnce: number; processes: Processes; log: ServiceLog };

const MAX_UNFINISHED_PER_USER = 1000;
const WAKE_CHANNEL = "downloads wait";

type Running = { abort: AbortController; done: Promise<void> };

export function createTasks(parts: TaskParts) {
  const { database, processes, now, log } = parts;
  const running = new Map<string, Running>();
  let isOpen = false;
  let claiming: Promise<void> | undefined;
  let isDue = false;

  function claimWaiting(): void {
    isDue = true;
    claiming ??= claimAll()
      .catch((error: unknown) => log.warn({ err: error }, "download claim failed"))
      .finally(() => {
        claiming = undefined;
        if (isDue && isOpen) claimWaiting();
      });
  }

  async function claimAll(): Promise<void> {
    while (isDue && isOpen) {
      isDue = false;
      while (isOpen && running.size < parts.atOnce && (await findNextTask(database))) {
        const task = await database.commit((tx) => claimTask(tx, processes.id, now()));
        if (!task) break;
        begin(task);
      }
    }
  }

  function begin(task: StoredTask): void {
    const abort = new AbortController();
    const done = run(task, abort.signal).finally(() => {
      running.delete(task.id);
      if (isOpen) claimWaiting();
    });
    running.set(task.id, { abort, done });
  }

  async function run(task: StoredTask, signal: AbortSignal): Promise<void> {
    try {
      await runDownload(parts, task, signal, () => !isOpen);
    } catch (error) {
      if (!isOpen || isTaskLost(error) || signal.aborted) return;
      if (!toRefusal(error)) log.error({ err: error, task: task.id }, "download failed");
      await database
        .commitFreeing((tx) => endTask(tx, task, toFailedFields(error), now()))
        .catch((storeError: unknown) => log.error({ err: storeError, task: task.id }, "download end write failed"));
    }
  }

  async function reclaimTasks(): Promise<void> {
    const previouslyRunning = [...running];
    const runningTasks = await listRunning(database);
    const ownIds = new Set(runningTasks.filter(({ holder }) => holder === processes.id).map(({ id }) => id));
    for (const [id, { abort }] of previouslyRunning) if (!ownIds.has(id)) abort.abort();
    const liveProcesses = await processes.live();
    const orphanedTasks = runningTasks.filter(({ id, holder }) =>
      // A task of this process whose end could not be stored.
      holder === processes.id ? !running.has(id) && !claiming : holder === null || !liveProcesses.includes(holder),
    );
    if (orphanedTasks.length > 0) await release(orphanedTasks);
    claimWaiting();
  }

  async function release(tasks: readonly RunningTask[]): Promise<void> {
    await database.commitFreeing(async (tx) => {
      for (const task of tasks) await releaseTask(tx, task, now());
    });
  }

  async function sweep(): Promise<void> {
    const names = await readdir(parts.folder);
    const partNames = await listUnfinishedParts(database);
    for (const name of names) if (!partNames.has(name)) await removePart(parts, name);
  }

  return {
    reclaimTasks,
    sweep,

    async start(): Promise<void> {
      isOpen = true;
      processes.listen(WAKE_CHANNEL, claimWaiting, claimWaiting);
      await sweep();
      await reclaimTasks();
    },

    async create(userId: number, download: NewDownload): Promise<StoredTask> {
      const task = await database.commit(async (tx) => {
        if ((await countUnfinished(tx, userId)) >= MAX_UNFINISHED_PER_USER)
          throw new ServiceError(
            "RATE_LIMITED",
            `You have ${MAX_UNFINISHED_PER_USER} unfinished downloads already. Wait for some of them to end.`,
          );
        // Another process may have a free slot if this one has none.
        if (running.size >= parts.atOnce) await processes.notify(WAKE_CHANNEL, null, tx);
        return insertTask(tx, userId, download, now());
      });
      claimWaiting();
      return task;
    },

    async cancel({ id }: StoredTask): Promise<boolean> {
      const task = await database.commitFreeing((tx) => endTask(tx, { id }, toCancelledFields(), now()));
      if (!task) return false;
      const run = running.get(id);
      run?.abort.abort();
      await run?.done;
      await removePart(parts, task.part ?? id);
      return true;
    },

    /** Releases the running tasks, which another process or the next start continues. */
    async stop(): Promise<void> {
      isOpen = false;
      await claiming;
      const runningNow = [...running];
      for (const [, { abort }] of runningNow) abort.abort();
      await Promise.all(runningNow.map(([, { done }]) => done));
      if (runningNow.length === 0) return;
      await release(runningNow.map(([id]) => ({ id, holder: processes.id }))).catch((error: unknown) =>
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
  const { code, message } = toRefusal(error) ?? { code: "INTERNAL", message: "The download failed inside the service." };
  return { status: "failed", error_message: message, result: writeExactJson({ success: false, error: message, code }) };
}
