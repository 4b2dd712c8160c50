// A worker thread that runs one graph at a time. Its message loop stays free, so that it receives a cancel at once.

import { parentPort } from "node:worker_threads";
import sharp from "sharp";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { executeGraph } from "./execute";
import { createImageFiles, createNodeCache } from "./reuse";
import { type Cancellation, createCancellation, type FromWorker, type ToWorker } from "./run";

// A worker processes one image at a time. Without sharp's own cache and parallelism, its memory remains bounded.
sharp.cache(false);
sharp.concurrency(1);

const port = parentPort;
if (!port) throw new Error("This file runs as a worker thread.");

const CACHE_BYTES = 192 * 1024 * 1024;
const cache = createNodeCache(CACHE_BYTES);
const imageFiles = createImageFiles();

let currentRun: Cancellation | undefined;

port.on("message", (message: ToWorker) => {
  if (message.kind === "cancel") {
    currentRun?.cancel();
    return;
  }
  const { cancelFlag } = message;
  const request = { ...message.request, graph: parseExactJson<Graph>(message.graph, { maxNumbers: Infinity }) };
  const { jobId } = request;
  const cancellation = createCancellation(cancelFlag);
  currentRun = cancellation;
  void imageFiles.lookAhead(request);
  let hasEnded = false;
  const send = (message: FromWorker) => {
    if (!hasEnded) port.postMessage(message);
    if (message.kind === "done") hasEnded = true;
  };
  // A wait or an encoder may continue in the background after a cancel. The response does not wait for it.
  cancellation.signal.addEventListener("abort", () => send({ kind: "done", jobId, outcome: { kind: "cancelled" } }));
  void executeGraph({ request, cancellation, cache, imageFiles, send: (event) => send({ kind: "event", jobId, event }) }).then((outcome) =>
    send({ kind: "done", jobId, outcome }),
  );
});
