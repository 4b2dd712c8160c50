// Downloads a job's outputs from a runner, during the run and from its history.

import { basename } from "node:path/posix";
import { setTimeout as sleep } from "node:timers/promises";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject, type JsonObject, objectOf, textOf } from "@/lib/contract/json/json";
import { own } from "@/lib/contract/json/own";
import { toFileName } from "@/lib/contract/plain-line";
import { type ExecutionError, executionErrorSchema } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { failed, ok, type Result } from "@/lib/shared/result";
import { extensionOf } from "../assets/media-type";
import { type StagedFile } from "../assets/staged-file";
import { type NodeOthers, type ProducedFile, type RunEvent } from "../nodes/run";
import { type Listening } from "./events-of";
import { type OutputBudget } from "./remote-job";
import { asKnown, type FetchedFile, fetchOutput, type FileThere, type Input, userNames } from "./transfer";

type OutputFile = FileThere & { nodeId: string; key: string; index: number; facts: Record<string, unknown> };
type Outputs = { files: OutputFile[]; texts: Map<string, string[]>; others: Map<string, NodeOthers> };
export type Ending = { kind: "success" } | { kind: "interrupted" } | { kind: "error"; error: ExecutionError };

const MAX_FILES = 10_000;
const MAX_NAME_LENGTH = 1000;
/** Every list shows the error with its job. */
const MAX_MESSAGE_LENGTH = 10_000;
const MAX_TRACEBACK_LENGTH = 64 * 1024;
const MAX_INPUTS_LENGTH = 256 * 1024;
/** For all texts together; what is longer is cut off. */
const MAX_TEXT_LENGTH = 4 * 1024 ** 2;

const isFact = (value: unknown) => typeof value === "number" || (typeof value === "string" && value.length <= MAX_NAME_LENGTH);

/** Undefined if the entry cannot be read: then nothing is known of the job. */
export function readEnding(entry: unknown): Ending | undefined {
  const status = objectOf(objectOf(entry)?.status);
  if (!status || !isObject(objectOf(entry)?.outputs)) return undefined;
  const messages = Array.isArray(status.messages) ? status.messages : [];
  const messageNamed = (name: string) => messages.find((message) => Array.isArray(message) && message[0] === name);
  const failure: unknown = messageNamed("execution_error");
  if (Array.isArray(failure)) {
    const read = executionErrorSchema.safeParse(failure[1]);
    return read.success ? { kind: "error", error: boundError(read.data) } : undefined;
  }
  if (messageNamed("execution_interrupted")) return { kind: "interrupted" };
  return status.status_str === "success" ? { kind: "success" } : undefined;
}

function boundError(error: ExecutionError): ExecutionError {
  const { node_id, node_type, exception_type, exception_message, traceback, current_inputs, current_outputs } = error;
  let left = MAX_TRACEBACK_LENGTH;
  return {
    node_id: node_id && cut(node_id, MAX_NAME_LENGTH),
    node_type: node_type && cut(node_type, MAX_NAME_LENGTH),
    exception_type: cut(exception_type, MAX_NAME_LENGTH),
    exception_message: cut(exception_message, MAX_MESSAGE_LENGTH),
    // The last lines contain the location of the error.
    traceback: traceback
      .map((line) => cut(line, MAX_MESSAGE_LENGTH))
      .reverse()
      .filter((line) => (left -= line.length + 1) > 0)
      .reverse(),
    current_inputs: writeExactJson(current_inputs).length > MAX_INPUTS_LENGTH ? {} : current_inputs,
    current_outputs: writeExactJson(current_outputs).length > MAX_INPUTS_LENGTH ? {} : current_outputs,
  };
}

function cut(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

/**
 * The outputs of each node of the graph. A node that expanded into others at the runner also gets their outputs (`meta` names it as their
 * `display_node`); outputs of other ids are dropped.
 */
export function outputsByNode(entry: unknown, graph: Graph): ReadonlyMap<string, JsonObject> {
  const found = new Map<string, Map<string, unknown>>();
  const meta = objectOf(objectOf(entry)?.meta);
  for (const [id, output] of Object.entries(objectOf(objectOf(entry)?.outputs) ?? {})) {
    const nodeId = Object.hasOwn(graph, id) ? id : textOf(objectOf(own(meta, id))?.display_node);
    if (nodeId === undefined || !Object.hasOwn(graph, nodeId) || !isObject(output)) continue;
    const keys = found.get(nodeId) ?? new Map<string, unknown>();
    found.set(nodeId, keys);
    for (const [key, items] of Object.entries(output)) {
      const before = keys.get(key);
      if (Array.isArray(before) && Array.isArray(items)) for (const item of items) before.push(item);
      else keys.set(key, Array.isArray(items) ? [...items] : items);
    }
  }
  return new Map([...found].map(([nodeId, keys]) => [nodeId, Object.fromEntries(keys)]));
}

export function readOutputs(byNode: ReadonlyMap<string, JsonObject>): Outputs {
  const outputs: Outputs = { files: [], texts: new Map(), others: new Map() };
  let room = MAX_TEXT_LENGTH;
  for (const [nodeId, output] of byNode) {
    for (const [key, items] of Object.entries(output)) {
      if (!Array.isArray(items)) continue;
      const others: unknown[] = [];
      const named = new Set<string>();
      items.forEach((item, index) => {
        const file = toFile(item);
        if (file) {
          const name = `${file.type} ${file.subfolder} ${file.filename}`;
          if (outputs.files.length < MAX_FILES && !named.has(name)) outputs.files.push({ ...file, nodeId, key, index });
          named.add(name);
        } else if (item !== null) others.push(item);
      });
      if (others.length === 0) continue;
      room -= writeExactJson(others).length;
      if (room < 0) continue;
      if (key === "text" && others.every((one) => typeof one === "string")) outputs.texts.set(nodeId, others);
      else outputs.others.set(nodeId, { ...outputs.others.get(nodeId), [key]: others });
    }
  }
  return outputs;
}

function toFile(item: unknown): (FileThere & { facts: Record<string, unknown> }) | undefined {
  if (!isObject(item)) return undefined;
  const filename = textOf(item.filename);
  const type = textOf(item.type) ?? "output";
  const subfolder = typeof item.subfolder === "string" ? item.subfolder : "";
  if (filename === undefined || filename.length + subfolder.length > MAX_NAME_LENGTH || !["output", "temp", "input"].includes(type))
    return undefined;
  const facts = Object.fromEntries(["format", "frame_rate"].flatMap((name) => (isFact(item[name]) ? [[name, item[name]]] : [])));
  return { filename, subfolder, type, facts };
}

/** Nodes of one job; the outputs of the rest come at the end. */
const MOST_EARLY = 1000;

type Parts = {
  runner: { address: string };
  graph: Graph;
  outputDir: string;
  limits: { leaseMs: number; pollMs: number };
  outputBudget: OutputBudget;
  inputs: readonly Input[];
  now: () => number;
  signal: AbortSignal;
  isGone: () => Promise<boolean>;
  on: (event: RunEvent) => void;
};
/** `error`: the job's error. Without one, the job may be retried. */
type OutputFailure = { message: string; code: string; status?: number; error?: ExecutionError };
type Fetch = (file: FileThere) => Promise<Result<FetchedFile, OutputFailure>>;
/** For one node: what was reported, and the fetched files; undefined if one could not be fetched. */
type Early = { reported: string; files: Promise<readonly StagedFile[] | undefined> };

export function bringOutputs(parts: Parts, timesOf: Listening["timesOf"]) {
  const early = new Map<string, Early>();
  const names = userNames(parts.inputs);
  let last: Promise<unknown> = Promise.resolve();
  /** After a failure the rest comes at the end: an unreachable runner is not waited for once for each node. */
  let isFailing = false;
  /** A file that doesn't fit is not downloaded again. */
  let tooMuch: OutputFailure | undefined;

  const fetchOnce: Fetch = async (file) => {
    if (tooMuch) return failed(tooMuch);
    const { runner, outputDir: folder, now, signal, outputBudget } = parts;
    const limit = await outputBudget.next(file.filename);
    const fetched = await fetchOutput(runner.address, file, { folder, maxBytes: limit.bytes, now, signal });
    if (!fetched.ok && !fetched.failure.isTooLarge) return fetched;
    const error = fetched.ok ? await outputBudget.take(fetched.value) : await limit.error();
    if (fetched.ok && !error) return fetched;
    if (fetched.ok) await fetched.value.dispose();
    tooMuch = { code: "too_large", message: error?.exception_message ?? "", ...(error && { error }) };
    return failed(tooMuch);
  };

  /** The runner has done the job: a broken connection is no reason to run it again, unless it stays broken. */
  const fetchPatiently: Fetch = async (file) => {
    const { limits, now, signal, isGone } = parts;
    const until = now() + limits.leaseMs;
    for (;;) {
      const fetched = await fetchOnce(file);
      signal.throwIfAborted();
      if (fetched.ok || !["not_reachable", "timeout", "failing"].includes(fetched.failure.code)) return fetched;
      if (now() > until || (await isGone())) return fetched;
      await sleep(Math.min(limits.pollMs, limits.leaseMs / 4), undefined, { signal });
    }
  };

  async function bring(
    nodeId: string,
    outputs: ReturnType<typeof readOutputs>,
    fetch: Fetch,
  ): Promise<Result<StagedFile[], OutputFailure>> {
    const staged: StagedFile[] = [];
    const files: ProducedFile[] = [];
    for (const file of outputs.files.filter((one) => one.nodeId === nodeId)) {
      const fetched = await fetch(file);
      if (!fetched.ok) {
        for (const one of staged) await one.dispose();
        return failed(fetched.failure);
      }
      staged.push(fetched.value);
      files.push(toProduced(file, fetched.value));
    }
    const ended = parts.now();
    const { startMs, endMs, cached } = timesOf(nodeId) ?? { startMs: ended, endMs: ended, cached: false };
    const [texts, others] = asKnown([outputs.texts.get(nodeId), outputs.others.get(nodeId)] as const, names);
    parts.on({ kind: "node", nodeId, startMs, endMs, cached, files, ...(texts && { texts }), ...(others && { others }) });
    return ok(staged);
  }

  return {
    /** What the runner reported of a node; nodes are fetched one after the other. */
    executed(nodeId: string, output: unknown): void {
      if (early.has(nodeId) || early.size >= MOST_EARLY || isFailing || !isObject(output)) return;
      const outputs = readOutputs(new Map([[nodeId, output]]));
      const fetched = last.then(async () => {
        const done = isFailing ? undefined : await bring(nodeId, outputs, fetchOnce).catch(() => undefined);
        isFailing ||= !done?.ok;
        return done?.ok ? done.value : undefined;
      });
      last = fetched;
      early.set(nodeId, { reported: writeExactJson(output), files: fetched });
    },

    /** Brings what the job's history entry names and is not here yet. Returns what went wrong, if anything did. */
    async rest(entry: unknown): Promise<OutputFailure | undefined> {
      const byNode = outputsByNode(entry, parts.graph);
      const outputs = readOutputs(byNode);
      await last;
      for (const nodeId of new Set([...outputs.files.map((file) => file.nodeId), ...outputs.texts.keys(), ...outputs.others.keys()])) {
        const before = early.get(nodeId);
        const staged = await before?.files;
        if (staged && before?.reported === writeExactJson(byNode.get(nodeId))) continue;
        const done = await bring(nodeId, outputs, fetchPatiently);
        if (!done.ok) return done.failure;
        for (const one of staged ?? []) await one.dispose();
      }
      return undefined;
    },
  };
}

function toProduced({ nodeId, key, index, filename, type, facts }: OutputFile, fetched: FetchedFile): ProducedFile {
  const { path, hash, sha256, size, mediaType, width, height } = fetched;
  const displayName = toFileName(basename(filename.replaceAll("\\", "/"))).slice(0, 200);
  return {
    nodeId,
    key,
    index,
    path,
    displayName,
    type: type === "temp" ? "temp" : "output",
    hash,
    sha256,
    byteLength: size,
    mimeType: mediaType,
    extension: extensionOf(mediaType, displayName),
    ...(width !== undefined && height !== undefined && { width, height }),
    facts,
  };
}
