// What the service does on its own, again and again: keeping the history and the cache of results within their bounds.

import { type Folders } from "./assets/folders";
import { type Chore } from "./housekeeping";
import { applyRetention, hasRetention, type RetentionParts } from "./jobs/retention";
import { trimCache } from "./nodes/trim-cache";

const CACHE_BYTES = 128 * 1024 ** 2;

export function serviceChores(parts: RetentionParts & { folders: Folders }): Chore[] {
  const trim: Chore = { name: "cache", everyMs: 300_000, round: (goOn) => trimCache(parts.folders.nodeCache, CACHE_BYTES, goOn) };
  const retention: Chore = { name: "retention", everyMs: 2000, round: (goOn) => applyRetention(parts, goOn) };
  return hasRetention(parts.settings) ? [trim, retention] : [trim];
}
