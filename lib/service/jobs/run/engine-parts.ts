// What the engine works with; made once, when the service starts.

import { type BlobStore } from "@/lib/service/assets/blob-store";
import { type Folders } from "@/lib/service/assets/folders";
import { type JobEvents } from "@/lib/service/events/elsewhere";
import { type Runner } from "@/lib/service/nodes/runner";
import { type ServiceLog } from "@/lib/service/options";
import { type Pool } from "@/lib/service/runners/pool";
import { type RemoteLimits } from "@/lib/service/runners/remote-job";
import { type Database } from "@/lib/service/store/database";
import { type Processes } from "@/lib/service/store/processes";

export type EngineParts = {
  database: Database;
  processes: Pick<Processes, "id" | "isHolderGone" | "isNotRunHere" | "giveUpSilent" | "tell">;
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
