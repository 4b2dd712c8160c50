import { hashFile, type HashOutcome, type HashPoint } from "./hash-file";

export type ToHashWorker = { id: number; file: Blob; from?: HashPoint } | { id: number; stop: true };
export type FromHashWorker = { id: number; bytes: number } | { id: number; outcome: HashOutcome } | { id: number; broken: true };

const running = new Map<number, { aborted: boolean }>();
const send = (message: FromHashWorker) => postMessage(message);

async function hash({ id, file, from }: Extract<ToHashWorker, { file: Blob }>): Promise<void> {
  const signal = { aborted: false };
  running.set(id, signal);
  try {
    send({ id, outcome: await hashFile(file, { from, signal, onProgress: (bytes) => send({ id, bytes }) }) });
  } catch {
    // WebAssembly is unavailable or out of memory. The page uploads without a hash and reports that.
    send({ id, broken: true });
  } finally {
    running.delete(id);
  }
}

addEventListener("message", ({ data }: MessageEvent<ToHashWorker>) => {
  if ("file" in data) void hash(data);
  else {
    const signal = running.get(data.id);
    if (signal) signal.aborted = true;
  }
});
