import { type HashCheckpoint, hashFile, type HashOutcome } from "./hash-file";

export type HashWorkerRequest = { id: number; file: Blob; from?: HashCheckpoint } | { id: number; stop: true };
export type HashWorkerResponse = { id: number; bytes: number } | { id: number; outcome: HashOutcome } | { id: number; broken: true };

const runningSignals = new Map<number, { aborted: boolean }>();
const send = (message: HashWorkerResponse) => postMessage(message);

async function hashRequestedFile({ id, file, from }: Extract<HashWorkerRequest, { file: Blob }>): Promise<void> {
  const signal = { aborted: false };
  runningSignals.set(id, signal);
  try {
    send({ id, outcome: await hashFile(file, { from, signal, onProgress: (bytes) => send({ id, bytes }) }) });
  } catch {
    // WebAssembly is unavailable or out of memory. The page uploads without a hash and reports that.
    send({ id, broken: true });
  } finally {
    runningSignals.delete(id);
  }
}

addEventListener("message", ({ data }: MessageEvent<HashWorkerRequest>) => {
  if ("file" in data) void hashRequestedFile(data);
  else {
    const signal = runningSignals.get(data.id);
    if (signal) signal.aborted = true;
  }
});
