// What the engine works with; made once, when the service starts.

import { type BlobStore } from "../assets/blob-store";
import { type Folders } from "../assets/folders";
import { type JobEvents } from "../events/job-events";
import { type Runner } from "../nodes/runner";
import { type Pool } from "../runners/pool";
import { type RemoteLimits } from "../runners/remote-run";
import { type ServiceLog } from "../options";
import { type Database } from "../store/database";
import { type Processes } from "../store/processes";

export type EngineParts = {
  database: Database;
  processes: Pick<Processes, "id" | "isHolderGone" | "isHeldElsewhere" | "giveUpSilent" | "tell">;
  blobs: BlobStore;
  folders: Folders;
  runner: Runner;
  events: JobEvents;
  pool: Pool;
  remoteLimits: RemoteLimits;
  concurrency: number;
  maxJobPixels: number;
  /** Removes content that nothing names any more. */
  collect(hash: string): Promise<void>;
  now: () => number;
  log: ServiceLog;
};
