import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { getOwn } from "@/lib/contract/json/json";
import { checkTexts, createShownTexts, type NodeContext, NodeFailure, renumber } from "./definition";
import { createInputs, type FailedNode, type ReceivedInput, toExecutionError } from "./failure-report";
import { readInputLiteral } from "./literal";
import { type PlannedNode, planRun } from "./plan";
import { createPreviews, type Previews } from "./previews";
import { type CachedNodeResult, createNodeValues, type ImageFiles, type NodeCache, type NodeValues, planReuse, type Reuse } from "./reuse";
import { type Cancellation, Cancelled, type ProducedFile, type RunEvent, type RunOutcome, type RunRequest } from "./run";
import { getOutputPath } from "./stored-outputs";

type Progress = Extract<RunEvent, { kind: "progress" }>;

const REPORT_INTERVAL_MS = 100;
const STEPS = 100;

type ProgressReporter = {
  /** `part` of the running node, 0 to 1. Called for every row, so nothing is allocated until something is sent. */
  report(at: Pick<Progress, "nodesDone" | "nodesTotal" | "currentNode">, part?: number): void;
  stop(): void;
};

function createProgressReporter(send: (progress: Progress) => void): ProgressReporter {
  let lastAt = -REPORT_INTERVAL_MS;
  let latest: Parameters<ProgressReporter["report"]>[0] | undefined;
  let latestPart: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (latest === undefined) return;
    lastAt = performance.now();
    send({ kind: "progress", ...latest, ...(latestPart !== undefined && { step: Math.round(latestPart * STEPS), steps: STEPS }) });
    latest = undefined;
  };
  return {
    report(at, part) {
      latest = at;
      latestPart = part;
      if (performance.now() - lastAt >= REPORT_INTERVAL_MS) flush();
      else timer ??= setTimeout(flush, REPORT_INTERVAL_MS);
    },
    stop() {
      clearTimeout(timer);
      latest = undefined;
    },
  };
}

const MAX_OPEN_FILES = 16;

type FileSaver = {
  save(path: string, content: Buffer): Promise<{ hash: string; sha256: string; byteLength: number }>;
  synced(): Promise<void>;
};

function createFileSaver(): FileSaver {
  let pendingSyncs: Promise<void>[] = [];

  async function synced(): Promise<void> {
    const syncs = pendingSyncs;
    pendingSyncs = [];
    await Promise.all(syncs);
  }

  return {
    synced,
    async save(path, content) {
      if (pendingSyncs.length >= MAX_OPEN_FILES) await synced();
      const handle = await open(path, "wx", 0o600);
      const sync = writeSynced(handle, content);
      sync.catch(() => undefined); // reported by `synced`
      pendingSyncs.push(sync);
      return {
        hash: new Blake3Hasher().update(content).digest("hex"),
        sha256: createHash("sha256").update(content).digest("hex"),
        byteLength: content.byteLength,
      };
    },
  };
}

async function writeSynced(handle: FileHandle, content: Buffer): Promise<void> {
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function executeGraph(execution: Execution): Promise<RunOutcome> {
  const { request, cancellation, send } = execution;
  const progress = createProgressReporter(send);
  const previews = createPreviews((bytes) => send({ kind: "preview", bytes }));
  try {
    const plan = planRun(request.graph, request.outputs);
    const nodeValues = createNodeValues(plan.readers, request.maxPixels);
    const reuse = await planReuse(plan, request, execution.cache);
    send({ kind: "cached", nodeIds: plan.order.flatMap(({ id }) => (reuse.of(id) ? [id] : [])), at: Date.now() });
    const numbers = new Map<string, number>();
    const nextNumber = (prefix: string) => {
      const number = (numbers.get(prefix) ?? 0) + 1;
      numbers.set(prefix, number);
      return number;
    };
    const show = createShownTexts();
    for (const [nodesDone, planned] of plan.order.entries()) {
      const state = { nodesDone, nodesTotal: plan.order.length, currentNode: planned.id };
      const tick = (part: number) => {
        cancellation.check();
        progress.report(state, part);
      };
      cancellation.check();
      progress.report(state);
      const cachedResult = reuse.of(planned.id);
      const failure = await (cachedResult
        ? reuseNode(planned, cachedResult, { ...execution, nodeValues, nextNumber, show })
        : runNode(planned, { ...execution, nodeValues, reuse, nextNumber, show, tick, previews }));
      if (failure) return failure;
    }
    return { kind: "success" };
  } catch (cause) {
    if (cause instanceof Cancelled) return { kind: "cancelled" };
    return { kind: "error", error: toExecutionError(cause, { id: "", classType: "", inputs: new Map(), nodeValues: [] }) };
  } finally {
    previews.stop();
    progress.stop();
  }
}

/** Emits the known result of a node again. Fails if the texts of the whole job would become too large. */
function reuseNode(
  planned: PlannedNode,
  cachedResult: CachedNodeResult,
  { nodeValues, nextNumber, send, show }: Pick<NodeRun, "nodeValues" | "nextNumber" | "send" | "show">,
): RunOutcome | undefined {
  const startMs = Date.now();
  const { id, links } = planned;
  try {
    show(cachedResult.texts ?? []);
    nodeValues.keep(id, cachedResult.values);
  } catch (cause) {
    return createFailure(cause, planned, gatherInputs(planned, nodeValues), nodeValues);
  }
  const files = cachedResult.files.map((file) => ({ ...file, displayName: renumber(file.displayName, nextNumber) }));
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

/** Throws only Cancelled. */
async function runNode(planned: PlannedNode, run: NodeRun): Promise<RunOutcome | undefined> {
  const { id, definition, links } = planned;
  const startMs = Date.now();
  run.send({ kind: "start", nodeId: id, startMs });
  const inputs = gatherInputs(planned, run.nodeValues);
  const files: ProducedFile[] = [];
  try {
    checkTexts([...inputs.values()].map(({ value }) => value));
    const saver = createFileSaver();
    const context = createContext(planned, run, { saver, files });
    const { values, texts } = await definition.run(createInputs(definition, inputs), context);
    run.cancellation.check();
    checkTexts([...values, ...(texts ?? [])]);
    run.show(texts ?? []);
    run.nodeValues.keep(id, values);
    run.previews.offer(values);
    await Promise.all([saver.synced(), run.reuse.keep(planned, { values, files, ...(texts ? { texts } : {}) })]);
    run.cancellation.check();
    for (const { source } of links.values()) run.nodeValues.release(source);
    run.send({ kind: "node", nodeId: id, startMs, endMs: Date.now(), cached: false, files, ...(texts ? { texts } : {}) });
    return undefined;
  } catch (cause) {
    run.cancellation.check();
    return createFailure(cause, planned, inputs, run.nodeValues);
  } finally {
    run.nodeValues.settle();
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

// Values of links and literals. An unreadable literal is left out, and the node reports the missing input.
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

// The context of a running node. File names contain no user input.
type SaveContext = {
  saver: FileSaver;
  files: ProducedFile[];
};

function createContext(planned: PlannedNode, run: NodeRun, { saver, files }: SaveContext): NodeContext {
  const { request, cancellation, nodeValues } = run;
  return {
    claim: nodeValues.claim,
    tick: run.tick,
    wait: (milliseconds) => sleep(milliseconds, undefined, { signal: cancellation.signal }),
    imagePath(name) {
      const file = getOwn(request.images, name);
      if (!file) throw new NodeFailure("FileNotFoundError", `There is no image file "${name}".`);
      return file.path;
    },
    readPixels: (path) => run.imageFiles.read(path, nodeValues.claim),
    pngText: request.pngText,
    nextNumber: run.nextNumber,
    async save({ content, size, ...details }) {
      cancellation.check();
      const index = files.length;
      const path = getOutputPath(request.outputDir, planned, index, details.extension);
      const bytes = await saver.save(path, content);
      files.push({ nodeId: planned.id, key: "images", index, path, ...bytes, ...details, ...size });
    },
    now: () => new Date(),
  };
}

type Execution = {
  request: RunRequest;
  cancellation: Cancellation;
  cache: NodeCache;
  imageFiles: ImageFiles;
  send: (event: RunEvent) => void;
};

type NodeRun = Execution & {
  nodeValues: NodeValues;
  reuse: Reuse;
  nextNumber: (prefix: string) => number;
  show: (texts: readonly string[]) => void;
  tick: (part: number) => void;
  previews: Previews;
};
