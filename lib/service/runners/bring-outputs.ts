// Brings a job's outputs here from a runner: those of each node as the runner reports them during the run, and at the end all that the
// history names.
// Guarantees: what was fetched during the run is not fetched again, unless the history names something else; what could not be fetched then
// is fetched at the end, patiently. Must never: end a job because something could not be fetched while it runs.

import { basename } from "node:path/posix";
import { setTimeout as sleep } from "node:timers/promises";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject } from "@/lib/contract/json/json";
import { toFileName } from "@/lib/contract/plain-line";
import { type Graph } from "@/lib/contract/schemas/graph";
import { failed, ok, type Result } from "@/lib/shared/result";
import { extensionOf } from "../assets/media-type";
import { type StagedFile } from "../assets/staged-file";
import { type ExecutionError, type ProducedFile, type RunEvent } from "../nodes/run";
import { type OutputFile, outputsByNode, readOutputs } from "./ending";
import { type Listening } from "./events-of";
import { type OutputBudget } from "./remote-job";
import { asKnown, type FetchedFile, fetchOutput, type FileThere, type Input, userNames } from "./transfer";

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
export type OutputFailure = { message: string; code: string; status?: number; error?: ExecutionError };
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
