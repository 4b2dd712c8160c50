// Computes SHA-256 of a large upload on another core while the file is written. At most one thread.

import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

/** The worker's source text, so that it needs no bundle. It reads only bytes that were reported as written. */
const workerSource = `
const { parentPort, workerData } = require("node:worker_threads");
const { openSync, readSync } = require("node:fs");
const file = openSync(workerData, "r");
const hash = require("node:crypto").createHash("sha256");
const buffer = Buffer.allocUnsafe(1024 * 1024);
let hashedBytes = 0;
parentPort.on("message", ({ bytes, isEnd }) => {
  while (hashedBytes < bytes) {
    const readBytes = readSync(file, buffer, 0, Math.min(buffer.length, bytes - hashedBytes), hashedBytes);
    if (readBytes === 0) throw new Error("the file is shorter than the bytes reported as written");
    hash.update(buffer.subarray(0, readBytes));
    hashedBytes += readBytes;
  }
  if (isEnd) parentPort.postMessage(hash.digest("hex"));
});`;

export type Sha256Thread = { reportWritten(bytes: number): void; digest(bytes: number): Promise<string>; stop(): void };

let isBusy = availableParallelism() === 1;

/** Returns undefined if the thread is busy or the machine has one core. The caller then hashes the file itself. */
export function startSha256Thread(path: string): Sha256Thread | undefined {
  if (isBusy) return undefined;
  const thread = createThread(path);
  if (!thread) return undefined;
  isBusy = true;
  const digestResult = new Promise<string>((resolve, reject) => {
    thread.once("message", resolve);
    thread.once("error", reject);
    thread.once("exit", () => {
      isBusy = false;
      reject(new Error("the hashing thread ended"));
    });
  });
  digestResult.catch(() => undefined); // awaited by the caller of `digest`
  let reportedBytes = 0;
  return {
    reportWritten(bytes) {
      if (bytes > reportedBytes) thread.postMessage({ bytes: (reportedBytes = bytes), isEnd: false });
    },
    digest(bytes) {
      thread.postMessage({ bytes, isEnd: true });
      return digestResult;
    },
    stop: () => void thread.terminate(),
  };
}

/** Returns undefined if the system allows no more threads. */
function createThread(path: string): Worker | undefined {
  try {
    return new Worker(workerSource, { eval: true, env: {}, execArgv: [], workerData: path });
  } catch {
    return undefined;
  }
}
