// What request handlers work with; made once per started service.

import { type AccessTimes } from "./assets/access-times";
import { type BlobStore } from "./assets/blob-store";
import { type Folders } from "./assets/folders";
import { type AssetSearch } from "./assets/search/asset-search";
import { type Thumbnails } from "./assets/thumbnails/thumbnails";
import { type Downloads } from "./downloads/downloads";
import { type JobEvents } from "./events/elsewhere";
import { type HistoryClears } from "./jobs/history/ended-jobs";
import { type Engine } from "./jobs/run/engine";
import { type LiveRuns } from "./jobs/run/live-runs";
import { type ServiceLog } from "./options";
import { type Pool } from "./runners/pool";
import { type ServiceSettings } from "./settings";
import { type Database } from "./store/database";

export type Parts = {
  database: Database;
  blobs: BlobStore;
  folders: Folders;
  engine: Engine;
  pool: Pool;
  events: JobEvents;
  liveRuns: LiveRuns;
  clears: HistoryClears;
  thumbnails: Thumbnails;
  accessTimes: AccessTimes;
  assetSearch: AssetSearch;
  downloads: Downloads;
  settings: ServiceSettings;
  publicUrl?: string;
  now: () => number;
  log: ServiceLog;
};
