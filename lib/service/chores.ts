// What the service does on its own, again and again: keeping the history, the ended tasks and the cache of results within their
// bounds.

import { type Folders } from "./assets/folders";
import { type PruneParts, pruneTasks } from "./downloads/prune-tasks";
import { type Chore } from "./housekeeping";
import { applyRetention, hasRetention, type RetentionParts } from "./jobs/retention";
import { trimCache } from "./nodes/trim-cache";

const CACHE_BYTES = 128 * 1024 ** 2;

export function serviceChores(parts: RetentionParts & PruneParts & { folders: Folders }): Chore[] {
  const trim: Chore = { name: "cache", everyMs: 300_000, round: (goOn) => trimCache(parts.folders.nodeCache, CACHE_BYTES, goOn) };
  const retention: Chore = { name: "retention", everyMs: 2000, round: (goOn) => applyRetention(parts, goOn) };
  const tasks: Chore = { name: "tasks", everyMs: 60_000, round: (goOn) => pruneTasks(parts, goOn) };
  return [trim, tasks, ...(hasRetention(parts.settings) ? [retention] : [])];
}
