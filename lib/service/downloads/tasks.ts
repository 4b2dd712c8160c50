// Downloads in the background, as tasks that are polled:  created → running → completed | failed | cancelled.
// Guarantees: so many at once and no more; users take turns; an address that a user asks for more than once is fetched once; a task that a restart interrupted goes on from the bytes that are durable;
// when `cancel` resolves, nothing is fetched any more and no file is left; partial files that no unfinished task names are swept at start.

import { readdir } from "node:fs/promises";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { createFairQueue } from "../jobs/fair-queue";
import { type ServiceLog } from "../options";
import { asRefusal, ServiceError } from "../service-error";
import { removePartial, runDownload, type RunParts } from "./run-download";
import { changeTask, countUnfinished, findTask, insertTask, listUnfinished, type StoredTask, type WantedDownload } from "./task-rows";

export type TaskParts = RunParts & { atOnce: number; log: ServiceLog };

const MOST_UNFINISHED_OF_A_USER = 1000;

type Running = { abort: AbortController; done: Promise<void> };

export function createTasks(parts: TaskParts) {
  const { database, now, log } = parts;
  /** The queue holds numbers; these are the tasks behind them. */
  const queue = createFairQueue();
  const waiting = new Map<number, string>();
  const running = new Map<string, Running>();
  /** By user and address: what is being fetched, with the tasks that wait for it to be there. */
  const behind = new Map<string, StoredTask[]>();
  let lastNumber = 0;
  let isOpen = false;

  function add(task: StoredTask): void {
    lastNumber += 1;
    waiting.set(lastNumber, task.id);
    queue.add(task.user_id, lastNumber);
  }

  function pump(): void {
    while (isOpen && running.size < parts.atOnce) {
      const next = queue.take();
      if (!next) return;
      const id = waiting.get(next.seq);
      waiting.delete(next.seq);
      if (id === undefined) continue;
      const task = findTask(database, id);
      if (!task) continue;
      const same = `${task.user_id} ${task.source_url}`;
      const before = behind.get(same);
      if (before) {
        before.push(task);
        continue;
      }
      behind.set(same, []);
      const abort = new AbortController();
      const done = run(task, abort.signal).finally(() => {
        running.delete(id);
        const next = behind.get(same) ?? [];
        behind.delete(same);
        next.forEach(add);
        pump();
      });
      running.set(id, { abort, done });
    }
  }

  async function run(task: StoredTask, signal: AbortSignal): Promise<void> {
    const { id } = task;
    try {
      await runDownload(parts, task, signal, () => !isOpen);
    } catch (error) {
      if (!isOpen) return; // stopped: the task is found again at the next start
      const ending = signal.aborted ? cancelled() : failed(error);
      if (!signal.aborted && !asRefusal(error)) log.error({ err: error, task: id }, "a download failed");
      await end(id, ending).catch((trouble: unknown) => log.error({ err: trouble, task: id }, "the end of a download was not stored"));
    }
  }

  async function end(id: string, ending: Partial<StoredTask>): Promise<boolean> {
    return database.commitFreeing(() => changeTask(database, id, { ...ending, completed_at: now() }, now()));
  }

  return {
    async start(): Promise<void> {
      isOpen = true;
      const unfinished = listUnfinished(database);
      const named = new Set(unfinished.map((task) => task.id));
      for (const name of await readdir(parts.folder)) if (!named.has(name)) await removePartial(parts, name);
      // What ran when the service ended waits for its turn like the others.
      await database.commit(() => {
        for (const task of unfinished) if (task.status === "running") changeTask(database, task.id, { status: "created" }, now());
      });
      for (const task of unfinished) add(task);
      pump();
    },

    async create(userId: number, wanted: WantedDownload): Promise<StoredTask> {
      const task = await database.commit(() => {
        if (countUnfinished(database, userId) >= MOST_UNFINISHED_OF_A_USER)
          throw new ServiceError(
            "RATE_LIMITED",
            `You have ${MOST_UNFINISHED_OF_A_USER} unfinished downloads already. Wait for some of them to end.`,
          );
        return insertTask(database, userId, wanted, now());
      });
      add(task);
      pump();
      return task;
    },

    /** False when it has ended already. */
    async cancel(task: StoredTask): Promise<boolean> {
      const run = running.get(task.id);
      run?.abort.abort();
      await run?.done;
      if (run) return findTask(database, task.id)?.status === "cancelled";
      for (const [number, id] of waiting) {
        if (id !== task.id) continue;
        waiting.delete(number);
        queue.forget(task.user_id, [number]);
      }
      for (const [same, tasks] of behind)
        behind.set(
          same,
          tasks.filter(({ id }) => id !== task.id),
        );
      if (!(await end(task.id, cancelled()))) return false;
      await removePartial(parts, task.id);
      return true;
    },

    async stop(): Promise<void> {
      isOpen = false;
      const open = [...running.values()];
      for (const { abort } of open) abort.abort();
      await Promise.all(open.map(({ done }) => done));
    },
  };
}

function cancelled(): Partial<StoredTask> {
  const message = "The download was cancelled.";
  return { status: "cancelled", error_message: message, result: writeExactJson({ success: false, error: message }) };
}

function failed(error: unknown): Partial<StoredTask> {
  const { code, message } = asRefusal(error) ?? { code: "INTERNAL", message: "The download failed inside the service." };
  return { status: "failed", error_message: message, result: writeExactJson({ success: false, error: message, code }) };
}
