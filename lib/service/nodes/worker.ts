// A worker thread that runs one graph at a time. Its message loop stays free, so that a cancel is received at once.

import { parentPort } from "node:worker_threads";
import sharp from "sharp";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { executeGraph } from "./execute";
import { createImageFiles, createNodeCache } from "./reuse";
import { type Cancellation, createCancellation, type FromWorker, type ToWorker } from "./run";

// One job, one picture at a time: sharp's own cache and parallelism are not needed, and memory stays bounded.
sharp.cache(false);
sharp.concurrency(1);

const port = parentPort;
if (!port) throw new Error("This file runs as a worker thread.");

const CACHE_BYTES = 192 * 1024 * 1024;
const cache = createNodeCache(CACHE_BYTES);
const imageFiles = createImageFiles();

let running: Cancellation | undefined;

port.on("message", (message: ToWorker) => {
  if (message.kind === "cancel") {
    running?.cancel();
    return;
  }
  const { cancelFlag } = message;
  const request = { ...message.request, graph: parseExactJson<Graph>(message.graph, { maxNumbers: Infinity }) };
  const { jobId } = request;
  const cancellation = createCancellation(cancelFlag);
  running = cancellation;
  void imageFiles.lookAhead(request);
  let ended = false;
  const send = (message: FromWorker) => {
    if (!ended) port.postMessage(message);
    if (message.kind === "done") ended = true;
  };
  // A wait or an encoder that does not stop at once may continue in the background; the answer does not wait for it.
  cancellation.signal.addEventListener("abort", () => send({ kind: "done", jobId, outcome: { kind: "cancelled" } }));
  void executeGraph({ request, cancellation, cache, imageFiles, send: (event) => send({ kind: "event", jobId, event }) }).then((outcome) =>
    send({ kind: "done", jobId, outcome }),
  );
});
