// What belongs to one execution, and to one node of it while it runs.

import { type Cancellation } from "./cancellation";
import { type ImageFiles } from "./image-files";
import { type KeptValues } from "./kept-values";
import { type NodeCache } from "./node-cache";
import { type Reuse } from "./reuse";
import { type RunEvent, type RunRequest } from "./run";

export type Execution = {
  request: RunRequest;
  cancellation: Cancellation;
  cache: NodeCache;
  imageFiles: ImageFiles;
  send: (event: RunEvent) => void;
};

export type NodeRun = Execution & {
  kept: KeptValues;
  reuse: Reuse;
  /** Counts from 1 for each prefix of the job. */
  nextNumber: (prefix: string) => number;
  /** Counts the texts that the job shows; throws beyond their bound. */
  show: (texts: readonly string[]) => void;
  tick: (part: number) => void;
};
