// The main thread's side of execution: a pool of worker threads that run graphs, first come, first served.
// Every run ends in an outcome: a worker that dies is an error of its job, never of the process.
// Must never: compute pixels; that is the workers' part.

import { own } from "@/lib/contract/json/own";
import { createPooledWorker, type PooledWorker } from "./pooled-worker";
import { type FromWorker } from "./protocol";
import { type RunEvent, type RunOutcome, type RunRequest } from "./run";

/** `cancel` ends the run within a quarter of a second, whatever a node is doing; a run that has ended stays as it is. */
export type Run = { done: Promise<RunOutcome>; cancel(): void };

export type Runner = {
  /** `on` is not called any more once `done` has settled. */
  run(request: RunRequest, on: (event: RunEvent) => void): Run;
  /** Cancels the runs that have not ended. */
  stop(): Promise<void>;
};

type Task = {
  request: RunRequest;
  on: (event: RunEvent) => void;
  settle: (outcome: RunOutcome) => void;
  currentNode: string;
  worker?: PooledWorker;
};

export function createRunner({ workerPath, slots }: { workerPath: string; slots: number }): Runner {
  const queue: Task[] = [];
  const active = new Set<Task>();
  const idle: PooledWorker[] = [];
  let stopped = false;

  function end(task: Task, outcome: RunOutcome): void {
    if (!active.delete(task)) return;
    task.settle(outcome);
    next();
  }

  function takeWorker(): PooledWorker {
    for (let spare = idle.pop(); spare; spare = idle.pop()) if (spare.isAlive()) return spare;
    return createPooledWorker(workerPath);
  }

  function next(): void {
    while (!stopped && active.size < slots) {
      const task = queue.shift();
      if (!task) return;
      active.add(task);
      const worker = takeWorker();
      task.worker = worker;
      worker.run(task.request, {
        message: (message) => receive(task, worker, message),
        lost: (reason) => end(task, toLost(task, reason)),
      });
    }
  }

  function receive(task: Task, worker: PooledWorker, message: FromWorker): void {
    if (message.jobId !== task.request.jobId || !active.has(task)) return;
    if (message.kind === "done") {
      if (stopped) void worker.terminate();
      else idle.push(worker);
      end(task, message.outcome);
      return;
    }
    if (message.event.kind === "start") task.currentNode = message.event.nodeId;
    task.on(message.event);
  }

  function cancel(task: Task): void {
    const place = queue.indexOf(task);
    if (place >= 0) {
      queue.splice(place, 1);
      task.settle({ kind: "cancelled" });
      return;
    }
    if (active.has(task)) task.worker?.cancel(() => end(task, { kind: "cancelled" }));
  }

  return {
    run(request, on) {
      let settle: (outcome: RunOutcome) => void = () => undefined;
      const done = new Promise<RunOutcome>((resolve) => (settle = resolve));
      const task: Task = { request, on, settle, currentNode: "" };
      if (stopped) settle({ kind: "cancelled" });
      else queue.push(task);
      next();
      return { done, cancel: () => cancel(task) };
    },
    async stop() {
      stopped = true;
      for (const task of queue.splice(0)) task.settle({ kind: "cancelled" });
      const workers = [...idle.splice(0), ...[...active].flatMap((task) => task.worker ?? [])];
      for (const task of [...active]) end(task, { kind: "cancelled" });
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

function toLost(task: Task, reason: { type: string; message: string }): RunOutcome {
  const node = own(task.request.graph, task.currentNode);
  return {
    kind: "error",
    error: {
      node_id: node ? task.currentNode : "",
      node_type: node?.class_type ?? "",
      exception_type: reason.type,
      exception_message: reason.message,
      traceback: [reason.message],
      current_inputs: {},
      current_outputs: {},
    },
  };
}
