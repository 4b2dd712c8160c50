import { type ExecutionError, type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";

export type { ExecutionError };

export type RunRequest = {
  jobId: string;
  graph: Graph;
  /** Ids of the output nodes to run. Only nodes that they depend on are executed. */
  outputs: string[];
  images: Record<string, { path: string; hash: string }>;
  /** An existing, empty folder on the disk of the blob store. */
  outputDir: string;
  maxPixels: number;
  /** The user's own existing folder. If it is absent, nothing is cached. */
  cacheDir?: string;
  /** Contains outputs of earlier jobs, named by hash, on the disk of `outputDir`. */
  blobsDir?: string;
  pngText: Record<string, string>;
};

export type ProducedFile = {
  nodeId: string;
  key: string;
  index: number;
  path: string;
  hash: string;
  sha256: string;
  byteLength: number;
  extension: string;
  displayName: string;
  type: "output" | "temp";
  mimeType: string;
  width?: number;
  height?: number;
  animated?: boolean;
  /** Other details that a runner reported: the format and frame rate of a video. */
  facts?: Record<string, unknown>;
};

export type RunEvent =
  /** The nodes that need not run. Sent once, before the first node. */
  | { kind: "cached"; nodeIds: string[]; at: number }
  /** An uncached node starts. Sent at once, unlike progress. */
  | { kind: "start"; nodeId: string; startMs: number }
  | { kind: "progress"; nodesDone: number; nodesTotal: number; currentNode: string; step?: number; steps?: number }
  | {
      kind: "node";
      nodeId: string;
      startMs: number;
      endMs: number;
      cached: boolean;
      files: ProducedFile[];
      texts?: string[];
      others?: OtherOutputs;
    }
  | { kind: "queued"; runner: string; ahead: number }
  /** The runner has started the job. May be reported repeatedly. */
  | { kind: "begun" }
  | { kind: "note"; at: number; note: RunNote }
  /** A preview image of unfinished work, in ComfyUI's binary format. */
  | { kind: "preview"; bytes: Uint8Array };

/** Stored with the job. `cache_cleared`: the runner's cache listed missing files, so the job ran again. */
type RunNote = { code: "outputs_refused"; runner: string; nodeErrors: NodeErrors } | { code: "cache_cleared" };

/** The outputs of a node that are neither files nor texts, by their output keys. */
export type OtherOutputs = Record<string, unknown[]>;

/** `lost`: will be retried, which may count as an attempt. `stale`: another attempt owns the job. `left`: continues on its runner. */
export type RunOutcome =
  | { kind: "success" }
  | { kind: "error"; error: ExecutionError }
  | { kind: "cancelled" }
  | { kind: "lost"; reason: string; countsAsAttempt: boolean }
  | { kind: "stale" }
  | { kind: "left" };

/** `graph` is JSON text, because a message does not preserve how numbers are written. */
export type WorkerCommand = { kind: "run"; request: Omit<RunRequest, "graph">; graph: string; cancelFlag: Int32Array } | { kind: "cancel" };

/** The main thread encodes previews, because nodes block the worker's event loop. */
export type PreviewPixels = { width: number; height: number; pixels: Uint8Array };

export type WorkerMessage =
  | { kind: "event"; jobId: string; event: RunEvent }
  | { kind: "preview"; jobId: string; preview: PreviewPixels }
  | { kind: "done"; jobId: string; outcome: RunOutcome };

export function createCancelFlag(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

export const REJECTED_TYPE = "ValidationError";

export function createServiceError(type: string, message: string): ExecutionError {
  return {
    node_id: "",
    node_type: "",
    exception_type: type,
    exception_message: message,
    traceback: [],
    current_inputs: {},
    current_outputs: {},
  };
}

export class CancelledError extends Error {
  override name = "Cancelled";
}

export type Cancellation = {
  signal: AbortSignal;
  check(): void;
  cancel(): void;
};

export function createCancellation(flag: Int32Array): Cancellation {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    check() {
      if (Atomics.load(flag, 0) !== 0) throw new CancelledError("The job was cancelled.");
    },
    cancel: () => controller.abort(),
  };
}
