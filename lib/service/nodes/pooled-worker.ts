// One worker thread of the pool. It lives through many runs, does not keep the process alive while idle, and is ended if it does not answer
// a cancel in time. Its holder learns of its death through `lost`, once.

import { Worker } from "node:worker_threads";
import { createCancelFlag, type FromWorker, type ToWorker } from "./protocol";
import { type RunRequest } from "./run";

const CANCEL_MS = 120;
const HEAP_MB = 512;

type Listener = { message: (message: FromWorker) => void; lost: (reason: { type: string; message: string }) => void };

export type PooledWorker = {
  /** False once the thread is gone; it must not be given work then. */
  isAlive(): boolean;
  run(request: RunRequest, listener: Listener): void;
  /** `ended` is called if the thread did not answer and had to be ended. */
  cancel(ended: () => void): void;
  terminate(): Promise<void>;
};

export function createPooledWorker(workerPath: string): PooledWorker {
  // No environment variables: nodes have no business with them. Pixels lie outside the heap: if the heap fills up, that is a mistake, and
  // it ends this thread before it takes the memory of the machine.
  const thread = new Worker(workerPath, { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
  let listener: Listener | undefined;
  let cancelFlag = createCancelFlag();
  let cancelTimer: NodeJS.Timeout | undefined;
  let alive = true;
  thread.unref();

  const post = (message: ToWorker) => thread.postMessage(message);
  const release = () => {
    const released = listener;
    listener = undefined;
    clearTimeout(cancelTimer);
    cancelTimer = undefined;
    thread.unref();
    return released;
  };

  thread.on("message", (message: FromWorker) => {
    const receiver = message.kind === "done" ? release() : listener;
    receiver?.message(message);
  });
  thread.on("error", (error: NodeJS.ErrnoException) => {
    alive = false;
    const outOfMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
    release()?.lost({ type: outOfMemory ? "OOMError" : "WorkerLost", message: describeEnd(error) });
  });
  thread.on("exit", (code) => {
    alive = false;
    release()?.lost({ type: "WorkerLost", message: `The worker that ran this job ended with code ${code}.` });
  });

  return {
    isAlive: () => alive,
    run(request, to) {
      listener = to;
      cancelFlag = createCancelFlag();
      thread.ref();
      post({ kind: "run", request, cancelFlag });
    },
    cancel(ended) {
      if (!listener || cancelTimer) return;
      Atomics.store(cancelFlag, 0, 1);
      post({ kind: "cancel" });
      cancelTimer = setTimeout(() => {
        release();
        alive = false;
        void thread.terminate();
        ended();
      }, CANCEL_MS);
    },
    async terminate() {
      release();
      await thread.terminate();
    },
  };
}

function describeEnd(error: NodeJS.ErrnoException): string {
  if (error.code === "ERR_WORKER_OUT_OF_MEMORY") return "The worker ran out of memory.";
  // The error's text would name a path of this machine; the log has it from the start of the service.
  if (error.code === "MODULE_NOT_FOUND" || error.code === "ERR_MODULE_NOT_FOUND")
    return "The worker that runs nodes, or a part of it, is missing. Whoever runs the service must start it with `npm run service` or `npm start`, which build it.";
  return `The worker that ran this job stopped: ${error.message}`;
}
