// Computes SHA-256 of a file on another core while the file is written: of an upload's cost on the main thread, this is the largest part
// that can run elsewhere. At most one thread; a caller that finds it busy, or a machine with one core, hashes by itself.
// Guarantees: it reads only bytes that were announced as written; a thread that fails rejects `digest`, never the process.

import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

export type Sha256Thread = {
  /** Tells the thread how many bytes of the file are written, from its beginning. */
  written(bytes: number): void;
  /** The hash of exactly the first `bytes`. */
  digest(bytes: number): Promise<string>;
  stop(): void;
};

/** Runs as source text, so that no bundle has to be found for it. */
const source = `
const { parentPort, workerData } = require("node:worker_threads");
const file = require("node:fs").openSync(workerData, "r");
const hash = require("node:crypto").createHash("sha256");
const buffer = Buffer.allocUnsafe(1024 * 1024);
let done = 0;
parentPort.on("message", ({ bytes, isEnd }) => {
  while (done < bytes) {
    const read = require("node:fs").readSync(file, buffer, 0, Math.min(buffer.length, bytes - done), done);
    if (read === 0) throw new Error("the file is shorter than what was written to it");
    hash.update(buffer.subarray(0, read));
    done += read;
  }
  if (isEnd) parentPort.postMessage(hash.digest("hex"));
});`;

let isTaken = availableParallelism() === 1;

export function startSha256Thread(path: string): Sha256Thread | undefined {
  if (isTaken) return undefined;
  isTaken = true;
  const thread = new Worker(source, { eval: true, env: {}, execArgv: [], workerData: path });
  const digested = new Promise<string>((resolve, reject) => {
    thread.once("message", resolve);
    thread.once("error", reject);
    thread.once("exit", () => {
      isTaken = false;
      reject(new Error("the hashing thread ended"));
    });
  });
  digested.catch(() => undefined); // reported by `digest`, if that is called
  let announced = 0;
  return {
    written(bytes) {
      if (bytes > announced) thread.postMessage({ bytes: (announced = bytes), isEnd: false });
    },
    digest(bytes) {
      thread.postMessage({ bytes, isEnd: true });
      return digested;
    },
    stop: () => void thread.terminate(),
  };
}
