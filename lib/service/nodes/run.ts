// The words between the service and the runner: what a run needs, what it reports while it goes on, how it ends.
// Plain data only: every value here crosses a thread boundary.
// It must never hold a secret: what is written into PNG text has been cleaned before it arrives here.

import { type ExecutionError } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";

export type { ExecutionError };

export type RunRequest = {
  jobId: string;
  graph: Graph;
  /** Ids of the output nodes to run; only what they reach is executed. */
  outputs: string[];
  /** By the name that a LoadImage node holds. */
  images: Record<string, { path: string; hash: string }>;
  /** The image file that the job after this one will probably read. */
  nextImage?: string | undefined;
  /** Exists, is empty, and lies on the disk of the blob store. */
  outputDir: string;
  /** Pixels times batch that may be alive at once. */
  maxPixels: number;
  /** Of this user alone; it exists. Without it nothing is cached. */
  cacheDir?: string;
  /** Where what earlier jobs put out is found again by its hash, on the disk of `outputDir`. */
  blobsDir?: string;
  /** JSON values by tEXt keyword: prompt, workflow, … */
  pngText: Record<string, unknown>;
};

export type ProducedFile = {
  nodeId: string;
  /** Key of the node's outputs: images. */
  key: string;
  index: number;
  path: string;
  /** BLAKE3 of the bytes, as the worker wrote them and had them synced. */
  hash: string;
  sha256: string;
  byteLength: number;
  extension: string;
  displayName: string;
  type: "output" | "temp";
  mimeType: string;
  /** Of pictures. */
  width?: number;
  height?: number;
  animated?: boolean;
  /** What a runner told of it beside its name: the format and the frame rate of a video. */
  facts?: Record<string, unknown>;
};

export type RunEvent =
  /** Once, before the first node: those that need not run. */
  | { kind: "cached"; nodeIds: string[]; at: number }
  /** A node begins that is not known from the cache: at once, where progress may come a little later. */
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
      others?: NodeOthers;
    }
  /** A picture of what is under way, as the family sends it. */
  | { kind: "preview"; bytes: Uint8Array };

/** What a node put out that is neither a file nor a text, by the keys of its outputs. */
export type NodeOthers = Record<string, unknown[]>;

/**
 * `lost`: it has not ended, and another attempt is due; `counts`: against the few that a job has. `stale`: the job is no longer this
 * attempt's, and nothing of it is written. `left`: it goes on there, and is found again by the next start.
 */
export type RunOutcome =
  | { kind: "success" }
  | { kind: "error"; error: ExecutionError }
  | { kind: "cancelled" }
  | { kind: "lost"; reason: string; counts: boolean }
  | { kind: "stale" }
  | { kind: "left" };
