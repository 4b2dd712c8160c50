import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { getOwn } from "@/lib/contract/json/json";
import { readPixels } from "../images/decode";
import { type Tick } from "../images/raster";
import { checkTexts, createShownTextsCheck, type NodeContext, NodeFailure, renumberDisplayName } from "./definition";
import { createInputs, type FailedNode, type ReceivedInput, toExecutionError } from "./failure-report";
import { readInputLiteral } from "./literal";
import { type CachedNodeResult, createNodeValues, type NodeCache, type NodeValues, planReuse, type Reuse } from "./node-cache";
import { type PlannedNode, planRun } from "./plan";
import { createPreviews, type Previews } from "./previews";
import {
  type Cancellation,
  CancelledError,
  type PreviewPixels,
  type ProducedFile,
  type RunEvent,
  type RunOutcome,
  type RunRequest,
} from "./run";
import { getOutputPath } from "./stored-outputs";

type Progress = Extract<RunEvent, { kind: "progress" }>;

const REPORT_INTERVAL_MS = 100;
const STEPS_PER_NODE = 100;

type ProgressReporter = {
  /** `nodeProgress` is the progress of the running node, from 0 to 1. Called for every row, so it allocates nothing until it sends. */
  report(state: Pick<Progress, "nodesDone" | "nodesTotal" | "currentNode">, nodeProgress?: number): void;
  stop(): void;
};

function createProgressReporter(send: (progress: Progress) => void): ProgressReporter {
  let lastSentMs = -REPORT_INTERVAL_MS;
  let latestState: Parameters<ProgressReporter["report"]>[0] | undefined;
  let latestNodeProgress: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (latestState === undefined) return;
    lastSentMs = performance.now();
    send({
      kind: "progress",
      ...latestState,
      ...(latestNodeProgress !== undefined && { step: Math.round(latestNodeProgress * STEPS_PER_NODE), steps: STEPS_PER_NODE }),
    });
    latestState = undefined;
  };
  return {
    report(state, nodeProgress) {
      latestState = state;
      latestNodeProgress = nodeProgress;
      if (performance.now() - lastSentMs >= REPORT_INTERVAL_MS) flush();
      else timer ??= setTimeout(flush, REPORT_INTERVAL_MS);
    },
    stop() {
      clearTimeout(timer);
      latestState = undefined;
    },
  };
}

const MAX_OPEN_FILES = 16;

type FileSaver = {
  save(path: string, content: Buffer): Promise<{ hash: string; sha256: string; byteLength: number }>;
  waitForSync(): Promise<void>;
};

function createFileSaver(): FileSaver {
  let pendingSyncs: Promise<void>[] = [];

  async function waitForSync(): Promise<void> {
    const syncs = pendingSyncs;
    pendingSyncs = [];
    await Promise.all(syncs);
  }

  return {
    waitForSync,
    async save(path, content) {
      if (pendingSyncs.length >= MAX_OPEN_FILES) await waitForSync();
      const handle = await open(path, "wx", 0o600);
      const sync = writeAndSync(handle, content);
      sync.catch(() => undefined); // reported by `waitForSync`
      pendingSyncs.push(sync);
      return {
        hash: new Blake3Hasher().update(content).digest("hex"),
        sha256: createHash("sha256").update(content).digest("hex"),
        byteLength: content.byteLength,
      };
    },
  };
}

async function writeAndSync(handle: FileHandle, content: Buffer): Promise<void> {
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function executeGraph(execution: Execution): Promise<RunOutcome> {
  const { request, cancellation, send, sendPreview } = execution;
  const progress = createProgressReporter(send);
  const previews = createPreviews(sendPreview);
  try {
    const plan = planRun(request.graph, request.outputs);
    const nodeValues = createNodeValues(plan.readerCounts, request.maxPixels);
    const reuse = await planReuse(plan, request, execution.cache);
    send({ kind: "cached", nodeIds: plan.order.flatMap(({ id }) => (reuse.findResult(id) ? [id] : [])), at: Date.now() });
    const numberByPrefix = new Map<string, number>();
    const getNextNumber = (prefix: string) => {
      const number = (numberByPrefix.get(prefix) ?? 0) + 1;
      numberByPrefix.set(prefix, number);
      return number;
    };
    const checkShownTexts = createShownTextsCheck();
    for (const [nodesDone, plannedNode] of plan.order.entries()) {
      const state = { nodesDone, nodesTotal: plan.order.length, currentNode: plannedNode.id };
      const tick: Tick = (nodeProgress, image) => {
        cancellation.check();
        progress.report(state, nodeProgress);
        if (image) previews.offer([image]);
      };
      cancellation.check();
      progress.report(state);
      const cachedResult = reuse.findResult(plannedNode.id);
      const failure = await (cachedResult
        ? reuseNode(plannedNode, cachedResult, { ...execution, nodeValues, getNextNumber, checkShownTexts })
        : runNode(plannedNode, { ...execution, nodeValues, reuse, getNextNumber, checkShownTexts, tick, previews }));
      if (failure) return failure;
    }
    return { kind: "success" };
  } catch (cause) {
    if (cause instanceof CancelledError) return { kind: "cancelled" };
    return { kind: "error", error: toExecutionError(cause, { id: "", classType: "", inputs: new Map(), nodeValues: [] }) };
  } finally {
    previews.stop();
    progress.stop();
  }
}

/** Emits a node's cached result. Fails if the texts of the whole job would become too large. */
function reuseNode(
  plannedNode: PlannedNode,
  cachedResult: CachedNodeResult,
  { nodeValues, getNextNumber, send, checkShownTexts }: Pick<NodeRun, "nodeValues" | "getNextNumber" | "send" | "checkShownTexts">,
): RunOutcome | undefined {
  const startMs = Date.now();
  const { id, links } = plannedNode;
  try {
    checkShownTexts(cachedResult.texts ?? []);
    nodeValues.storeValues(id, cachedResult.values);
  } catch (cause) {
    return createFailure(cause, plannedNode, gatherInputs(plannedNode, nodeValues), nodeValues);
  }
  const files = cachedResult.files.map((file) => ({ ...file, displayName: renumberDisplayName(file.displayName, getNextNumber) }));
  for (const { source } of links.values()) nodeValues.release(source);
  send({
    kind: "node",
    nodeId: id,
    startMs,
    endMs: Date.now(),
    cached: true,
    files,
    ...(cachedResult.texts ? { texts: cachedResult.texts } : {}),
  });
  return undefined;
}

/** Throws only CancelledError. */
async function runNode(plannedNode: PlannedNode, run: NodeRun): Promise<RunOutcome | undefined> {
  const { id, definition, links } = plannedNode;
  const startMs = Date.now();
  run.send({ kind: "start", nodeId: id, startMs });
  const inputs = gatherInputs(plannedNode, run.nodeValues);
  const files: ProducedFile[] = [];
  try {
    checkTexts([...inputs.values()].map(({ value }) => value));
    const saver = createFileSaver();
    const context = createContext(plannedNode, run, { saver, files });
    const { values, texts } = await definition.run(createInputs(definition, inputs), context);
    run.cancellation.check();
    checkTexts([...values, ...(texts ?? [])]);
    run.checkShownTexts(texts ?? []);
    run.nodeValues.storeValues(id, values);
    run.previews.offer(values);
    await Promise.all([saver.waitForSync(), run.reuse.storeResult(plannedNode, { values, files, ...(texts ? { texts } : {}) })]);
    run.cancellation.check();
    for (const { source } of links.values()) run.nodeValues.release(source);
    run.send({ kind: "node", nodeId: id, startMs, endMs: Date.now(), cached: false, files, ...(texts ? { texts } : {}) });
    return undefined;
  } catch (cause) {
    run.cancellation.check();
    return createFailure(cause, plannedNode, inputs, run.nodeValues);
  } finally {
    run.nodeValues.resetClaimedPixels();
  }
}

function createFailure(
  cause: unknown,
  { id, node, definition }: PlannedNode,
  inputs: FailedNode["inputs"],
  nodeValues: NodeValues,
): RunOutcome {
  const title = node._meta?.title;
  const failure = { id, classType: definition.name, inputs, nodeValues: nodeValues.entries(), ...(title === undefined ? {} : { title }) };
  return { kind: "error", error: toExecutionError(cause, failure) };
}

// Collects the values of links and literals. Skips unreadable literals, which the node reports as missing inputs.
function gatherInputs({ node, definition, links, sourceTypes }: PlannedNode, nodeValues: NodeValues): Map<string, ReceivedInput> {
  const inputs = new Map<string, ReceivedInput>();
  for (const { name, type } of definition.inputs) {
    const link = links.get(name);
    if (link) {
      inputs.set(name, { value: nodeValues.get(link.source)?.[link.output], type: sourceTypes.get(name) ?? "*" });
      continue;
    }
    const literal = readInputLiteral(node.inputs, name, type);
    if (literal?.literal.ok) inputs.set(name, { value: literal.literal.value, type: literal.type });
  }
  return inputs;
}

// Output file names contain no user input.
type SaveContext = {
  saver: FileSaver;
  files: ProducedFile[];
};

function createContext(plannedNode: PlannedNode, run: NodeRun, { saver, files }: SaveContext): NodeContext {
  const { request, cancellation, nodeValues } = run;
  return {
    claimPixels: nodeValues.claimPixels,
    tick: run.tick,
    wait: (milliseconds) => sleep(milliseconds, undefined, { signal: cancellation.signal }),
    getImagePath(name) {
      const file = getOwn(request.images, name);
      if (!file) throw new NodeFailure("FileNotFoundError", `Image file "${name}" not found.`);
      return file.path;
    },
    readPixels: (path) => readPixels(path, nodeValues.claimPixels),
    pngText: request.pngText,
    getNextNumber: run.getNextNumber,
    async saveFile({ content, size, ...details }) {
      cancellation.check();
      const index = files.length;
      const path = getOutputPath(request.outputDir, plannedNode, index, details.extension);
      const bytes = await saver.save(path, content);
      files.push({ nodeId: plannedNode.id, key: "images", index, path, ...bytes, ...details, ...size });
    },
    now: () => new Date(),
  };
}

type Execution = {
  request: RunRequest;
  cancellation: Cancellation;
  cache: NodeCache;
  send: (event: RunEvent) => void;
  sendPreview: (preview: PreviewPixels) => void;
};

type NodeRun = Execution & {
  nodeValues: NodeValues;
  reuse: Reuse;
  getNextNumber: (prefix: string) => number;
  checkShownTexts: (texts: readonly string[]) => void;
  tick: Tick;
  previews: Previews;
};
