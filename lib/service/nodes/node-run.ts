// What belongs to one execution, and to one node of it while it runs.

import { type Cancellation } from "./cancellation";
import { type KeptValues } from "./kept-values";
import { type NodeCache } from "./node-cache";
import { type Reuse } from "./reuse";
import { type RunEvent, type RunRequest } from "./run";

export type Execution = {
  request: RunRequest;
  cancellation: Cancellation;
  cache: NodeCache;
  send: (event: RunEvent) => void;
};

export type NodeRun = Execution & {
  kept: KeptValues;
  reuse: Reuse;
  /** The last number given to a file, by prefix. */
  numbers: Map<string, number>;
  tick: (part: number) => void;
};
