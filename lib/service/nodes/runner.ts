import { Worker } from "node:worker_threads";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn } from "@/lib/contract/json/json";
import { createCancelFlag, type FromWorker, type RunEvent, type RunOutcome, type RunRequest, type ToWorker } from "./run";

const CANCEL_TIMEOUT_MS = 120;
const MAX_HEAP_MB = 512;

type Listener = { message: (message: FromWorker) => void; lost: (reason: { type: string; message: string }) => void };

type PooledWorker = {
  /** False once the thread has ended. It must not be used then. */
  isAlive(): boolean;
  run(request: RunRequest, listener: Listener): void;
  cancel(ended: () => void): void;
  terminate(): Promise<void>;
};

function createPooledWorker(workerPath: string): PooledWorker {
  // Nodes need no environment variables. Pixels are outside the heap, so a full heap is a bug that should end the thread.
  const thread = new Worker(workerPath, { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
  let listener: Listener | undefined;
  let cancelFlag = createCancelFlag();
  let cancelTimer: NodeJS.Timeout | undefined;
  let isThreadAlive = true;
  thread.unref();

  const post = (message: ToWorker) => thread.postMessage(message);
  const release = () => {
    const releasedListener = listener;
    listener = undefined;
    clearTimeout(cancelTimer);
    cancelTimer = undefined;
    thread.unref();
    return releasedListener;
  };

  thread.on("message", (message: FromWorker) => {
    const receiver = message.kind === "done" ? release() : listener;
    receiver?.message(message);
  });
  thread.on("error", (error: NodeJS.ErrnoException) => {
    isThreadAlive = false;
    const isOutOfMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
    release()?.lost({ type: isOutOfMemory ? "OOMError" : "WorkerLost", message: describeEnd(error) });
  });
  thread.on("exit", (code) => {
    isThreadAlive = false;
    release()?.lost({ type: "WorkerLost", message: `The worker that ran this job ended with code ${code}.` });
  });

  return {
    isAlive: () => isThreadAlive,
    run({ graph, ...request }, newListener) {
      listener = newListener;
      cancelFlag = createCancelFlag();
      thread.ref();
      post({ kind: "run", request, graph: writeExactJson(graph), cancelFlag });
    },
    cancel(ended) {
      if (!listener || cancelTimer) return;
      Atomics.store(cancelFlag, 0, 1);
      post({ kind: "cancel" });
      cancelTimer = setTimeout(() => {
        release();
        isThreadAlive = false;
        void thread.terminate();
        ended();
      }, CANCEL_TIMEOUT_MS);
    },
    async terminate() {
      release();
      await thread.terminate();
    },
  };
}

function describeEnd(error: NodeJS.ErrnoException): string {
  if (error.code === "ERR_WORKER_OUT_OF_MEMORY") return "The worker ran out of memory.";
  // The error's text would name a path of this machine. It is logged when the service starts.
  if (error.code === "MODULE_NOT_FOUND" || error.code === "ERR_MODULE_NOT_FOUND")
    return "The bundled worker that runs nodes is missing or incomplete. The operator must build it with `npm run service` or `npm start`.";
  return `The worker that ran this job stopped: ${error.message}`;
}

/** `cancel` ends the run within a quarter of a second inside any node. It has no effect on a run that has ended. */
export type Run = { done: Promise<RunOutcome>; cancel(): void };

export type Runner = {
  run(request: RunRequest, on: (event: RunEvent) => void): Run;
  stop(): Promise<void>;
};

type Task = {
  request: RunRequest;
  on: (event: RunEvent) => void;
  settle: (outcome: RunOutcome) => void;
  currentNode: string;
  worker: PooledWorker;
};

/** The caller limits the number of concurrent runs. */
export function createRunner({ workerPath }: { workerPath: string }): Runner {
  const active = new Set<Task>();
  const idle: PooledWorker[] = [];
  let isStopped = false;

  function endTask(task: Task, outcome: RunOutcome): void {
    if (active.delete(task)) task.settle(outcome);
  }

  function takeWorker(): PooledWorker {
    for (let idleWorker = idle.pop(); idleWorker; idleWorker = idle.pop()) if (idleWorker.isAlive()) return idleWorker;
    return createPooledWorker(workerPath);
  }

  function receive(task: Task, message: FromWorker): void {
    if (message.jobId !== task.request.jobId || !active.has(task)) return;
    if (message.kind === "done") {
      if (isStopped) void task.worker.terminate();
      else idle.push(task.worker);
      endTask(task, message.outcome);
      return;
    }
    if (message.event.kind === "start") task.currentNode = message.event.nodeId;
    task.on(message.event);
  }

  return {
    run(request, on) {
      if (isStopped) return { done: Promise.resolve({ kind: "cancelled" }), cancel: () => undefined };
      let settle: (outcome: RunOutcome) => void = () => undefined;
      const done = new Promise<RunOutcome>((resolve) => (settle = resolve));
      const task: Task = { request, on, settle, currentNode: "", worker: takeWorker() };
      active.add(task);
      task.worker.run(request, {
        message: (message) => receive(task, message),
        lost: (reason) => endTask(task, toLostOutcome(task, reason)),
      });
      return {
        done,
        cancel() {
          if (active.has(task)) task.worker.cancel(() => endTask(task, { kind: "cancelled" }));
        },
      };
    },
    async stop() {
      isStopped = true;
      const workers = [...idle.splice(0), ...[...active].map((task) => task.worker)];
      for (const task of [...active]) endTask(task, { kind: "cancelled" });
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

function toLostOutcome(task: Task, reason: { type: string; message: string }): RunOutcome {
  const node = getOwn(task.request.graph, task.currentNode);
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
