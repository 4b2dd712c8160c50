import { Worker } from "node:worker_threads";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn } from "@/lib/contract/json/json";
import { encodePreview } from "./previews";
import {
  createCancelFlag,
  type PreviewPixels,
  type RunEvent,
  type RunOutcome,
  type RunRequest,
  type WorkerCommand,
  type WorkerMessage,
} from "./run";

const CANCEL_TIMEOUT_MS = 120;
const MAX_HEAP_MB = 512;

type Listener = { onMessage: (message: WorkerMessage) => void; onLost: (reason: { type: string; message: string }) => void };

type PooledWorker = {
  /** Returns false once the thread has ended. Don't use it then. */
  isAlive(): boolean;
  run(request: RunRequest, listener: Listener): void;
  cancel(onEnd: () => void): void;
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

  const post = (message: WorkerCommand) => thread.postMessage(message);
  const release = () => {
    const releasedListener = listener;
    listener = undefined;
    clearTimeout(cancelTimer);
    cancelTimer = undefined;
    thread.unref();
    return releasedListener;
  };

  thread.on("message", (message: WorkerMessage) => {
    const receiver = message.kind === "done" ? release() : listener;
    receiver?.onMessage(message);
  });
  thread.on("error", (error: NodeJS.ErrnoException) => {
    isThreadAlive = false;
    const isOutOfMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
    release()?.onLost({ type: isOutOfMemory ? "OOMError" : "WorkerLost", message: describeEnd(error) });
  });
  thread.on("exit", (code) => {
    isThreadAlive = false;
    release()?.onLost({ type: "WorkerLost", message: `The worker that ran this job ended with code ${code}.` });
  });

  return {
    isAlive: () => isThreadAlive,
    run({ graph, ...request }, newListener) {
      listener = newListener;
      cancelFlag = createCancelFlag();
      thread.ref();
      post({ kind: "run", request, graph: writeExactJson(graph), cancelFlag });
    },
    cancel(onEnd) {
      if (!listener || cancelTimer) return;
      Atomics.store(cancelFlag, 0, 1);
      post({ kind: "cancel" });
      cancelTimer = setTimeout(() => {
        release();
        isThreadAlive = false;
        void thread.terminate();
        onEnd();
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
  // The error's text contains a path of this machine. The service logs it on startup.
  if (error.code === "MODULE_NOT_FOUND" || error.code === "ERR_MODULE_NOT_FOUND")
    return "The bundled worker that runs nodes is missing or incomplete. The operator must build it with `npm run service` or `npm start`.";
  return `The worker that ran this job stopped: ${error.message}`;
}

/** `cancel` ends the run within a quarter of a second inside any node. It has no effect on a run that has ended. */
export type Run = { done: Promise<RunOutcome>; cancel(): void };

export type Runner = {
  run(request: RunRequest, onEvent: (event: RunEvent) => void): Run;
  stop(): Promise<void>;
};

type Task = {
  request: RunRequest;
  onEvent: (event: RunEvent) => void;
  settle: (outcome: RunOutcome) => void;
  currentNode: string;
  worker: PooledWorker;
};

/** The caller limits the number of concurrent runs. */
export function createRunner({ workerPath }: { workerPath: string }): Runner {
  const activeTasks = new Set<Task>();
  const idleWorkers: PooledWorker[] = [];
  let isStopped = false;

  function endTask(task: Task, outcome: RunOutcome): void {
    if (activeTasks.delete(task)) task.settle(outcome);
  }

  function acquireWorker(): PooledWorker {
    for (let idleWorker = idleWorkers.pop(); idleWorker; idleWorker = idleWorkers.pop()) if (idleWorker.isAlive()) return idleWorker;
    return createPooledWorker(workerPath);
  }

  function handleMessage(task: Task, message: WorkerMessage): void {
    if (message.jobId !== task.request.jobId || !activeTasks.has(task)) return;
    if (message.kind === "done") {
      if (isStopped) void task.worker.terminate();
      else idleWorkers.push(task.worker);
      endTask(task, message.outcome);
      return;
    }
    if (message.kind === "preview") return void sendPreview(task, message.preview).catch(() => undefined);
    if (message.event.kind === "start") task.currentNode = message.event.nodeId;
    task.onEvent(message.event);
  }

  async function sendPreview(task: Task, preview: PreviewPixels): Promise<void> {
    const bytes = await encodePreview(preview);
    if (activeTasks.has(task)) task.onEvent({ kind: "preview", bytes });
  }

  return {
    run(request, onEvent) {
      if (isStopped) return { done: Promise.resolve({ kind: "cancelled" }), cancel: () => undefined };
      let settle: (outcome: RunOutcome) => void = () => undefined;
      const done = new Promise<RunOutcome>((resolve) => (settle = resolve));
      const task: Task = { request, onEvent, settle, currentNode: "", worker: acquireWorker() };
      activeTasks.add(task);
      task.worker.run(request, {
        onMessage: (message) => handleMessage(task, message),
        onLost: (reason) => endTask(task, toLostOutcome(task, reason)),
      });
      return {
        done,
        cancel() {
          if (activeTasks.has(task)) task.worker.cancel(() => endTask(task, { kind: "cancelled" }));
        },
      };
    },
    async stop() {
      isStopped = true;
      const workers = [...idleWorkers.splice(0), ...[...activeTasks].map((task) => task.worker)];
      for (const task of [...activeTasks]) endTask(task, { kind: "cancelled" });
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
