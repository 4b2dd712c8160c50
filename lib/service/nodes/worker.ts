// A worker thread that runs one graph at a time. It doesn't block its message loop, so it receives cancellations at once.

import { parentPort } from "node:worker_threads";
import sharp from "sharp";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { executeGraph } from "./execute";
import { createNodeCache } from "./node-cache";
import { type Cancellation, createCancellation, type WorkerCommand, type WorkerMessage } from "./run";

// A worker processes one image at a time. Without sharp's own cache and parallelism, its memory remains bounded.
sharp.cache(false);
sharp.concurrency(1);

const port = parentPort;
if (!port) throw new Error("This file runs as a worker thread.");

const MAX_CACHE_BYTES = 192 * 1024 * 1024;
const cache = createNodeCache(MAX_CACHE_BYTES);

let currentRun: Cancellation | undefined;

port.on("message", (message: WorkerCommand) => {
  if (message.kind === "cancel") {
    currentRun?.cancel();
    return;
  }
  const { cancelFlag } = message;
  const request = { ...message.request, graph: parseExactJson<Graph>(message.graph, { maxNumbers: Infinity }) };
  const { jobId } = request;
  const cancellation = createCancellation(cancelFlag);
  currentRun = cancellation;
  let hasEnded = false;
  const send = (message: WorkerMessage) => {
    if (!hasEnded) port.postMessage(message);
    if (message.kind === "done") hasEnded = true;
  };
  // A wait or an encoder may continue in the background after a cancel. The response does not wait for it.
  cancellation.signal.addEventListener("abort", () => send({ kind: "done", jobId, outcome: { kind: "cancelled" } }));
  void executeGraph({
    request,
    cancellation,
    cache,
    send: (event) => send({ kind: "event", jobId, event }),
    sendPreview: (preview) => send({ kind: "preview", jobId, preview }),
  }).then((outcome) => send({ kind: "done", jobId, outcome }));
});
