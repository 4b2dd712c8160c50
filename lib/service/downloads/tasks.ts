// Downloads in the background, as tasks that are polled:  created → running → completed | failed | cancelled.
// Guarantees: so many at once and no more; users take turns; an address that a user asks for more than once is fetched once; a task that a restart interrupted goes on from the bytes that are durable;
// when `cancel` resolves, nothing is fetched any more and no file is left; partial files that no unfinished task names are swept at start.

import { readdir } from "node:fs/promises";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { createFairQueue } from "../jobs/fair-queue";
import { type ServiceLog } from "../options";
import { asRefusal, ServiceError } from "../service-error";
import { removePartial, runDownload, type RunParts } from "./run-download";
import {
  changeTask,
  countUnfinished,
  findTask,
  insertTask,
  listUnfinished,
  returnRunning,
  type StoredTask,
  type WantedDownload,
} from "./task-rows";

export type TaskParts = RunParts & { atOnce: number; log: ServiceLog };

const MOST_UNFINISHED_OF_A_USER = 1000;

/** `address`: of user and source, of which one is fetched at a time. */
type Turn = { id: string; userId: number; address: string };
type Running = { abort: AbortController; done: Promise<void> };

export function createTasks(parts: TaskParts) {
  const { database, now, log } = parts;
  /** The queue holds numbers; these are the tasks behind them. */
  const queue = createFairQueue();
  const waiting = new Map<number, Turn>();
  const running = new Map<string, Running>();
  /** By address: what is being fetched, with the tasks that wait for it to be there. */
  const behind = new Map<string, Turn[]>();
  let lastNumber = 0;
  let isOpen = false;

  function add(turn: Turn): void {
    lastNumber += 1;
    waiting.set(lastNumber, turn);
    queue.add(turn.userId, lastNumber);
  }

  function pump(): void {
    while (isOpen && running.size < parts.atOnce) {
      const next = queue.take();
      if (!next) return;
      const turn = waiting.get(next.seq);
      waiting.delete(next.seq);
      if (!turn) continue;
      const { id, address } = turn;
      const before = behind.get(address);
      if (before) {
        before.push(turn);
        continue;
      }
      behind.set(address, []);
      const abort = new AbortController();
      const done = run(id, abort.signal).finally(() => {
        running.delete(id);
        const next = behind.get(address) ?? [];
        behind.delete(address);
        next.forEach(add);
        pump();
      });
      running.set(id, { abort, done });
    }
  }

  async function run(id: string, signal: AbortSignal): Promise<void> {
    try {
      const task = await findTask(database, id);
      if (task) await runDownload(parts, task, signal, () => !isOpen);
    } catch (error) {
      if (!isOpen) return; // stopped: the task is found again at the next start
      const ending = signal.aborted ? cancelled() : failed(error);
      if (!signal.aborted && !asRefusal(error)) log.error({ err: error, task: id }, "a download failed");
      await end(id, ending).catch((trouble: unknown) => log.error({ err: trouble, task: id }, "the end of a download was not stored"));
    }
  }

  async function end(id: string, ending: Partial<StoredTask>): Promise<boolean> {
    return database.commitFreeing((tx) => changeTask(tx, id, { ...ending, completed_at: now() }, now()));
  }

  return {
    async start(): Promise<void> {
      isOpen = true;
      const unfinished = await listUnfinished(database);
      const named = new Set(unfinished.map((task) => task.id));
      for (const name of await readdir(parts.folder)) if (!named.has(name)) await removePartial(parts, name);
      await database.commit((tx) => returnRunning(tx, now()));
      for (const task of unfinished) add(turnOf(task));
      pump();
    },

    async create(userId: number, wanted: WantedDownload): Promise<StoredTask> {
      const task = await database.commit(async (tx) => {
        if ((await countUnfinished(tx, userId)) >= MOST_UNFINISHED_OF_A_USER)
          throw new ServiceError(
            "RATE_LIMITED",
            `You have ${MOST_UNFINISHED_OF_A_USER} unfinished downloads already. Wait for some of them to end.`,
          );
        return insertTask(tx, userId, wanted, now());
      });
      add(turnOf(task));
      pump();
      return task;
    },

    /** False when it has ended already. */
    async cancel(task: StoredTask): Promise<boolean> {
      const run = running.get(task.id);
      if (run) {
        run.abort.abort();
        await run.done;
        return (await findTask(database, task.id))?.status === "cancelled";
      }
      for (const [number, { id }] of waiting) {
        if (id !== task.id) continue;
        waiting.delete(number);
        queue.forget(task.user_id, [number]);
      }
      for (const [address, turns] of behind)
        behind.set(
          address,
          turns.filter(({ id }) => id !== task.id),
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

function turnOf({ id, user_id, source_url }: StoredTask): Turn {
  return { id, userId: user_id, address: `${user_id} ${source_url}` };
}

function cancelled(): Partial<StoredTask> {
  const message = "The download was cancelled.";
  return { status: "cancelled", error_message: message, result: writeExactJson({ success: false, error: message }) };
}

function failed(error: unknown): Partial<StoredTask> {
  const { code, message } = asRefusal(error) ?? { code: "INTERNAL", message: "The download failed inside the service." };
  return { status: "failed", error_message: message, result: writeExactJson({ success: false, error: message, code }) };
}
