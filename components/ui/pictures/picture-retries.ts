// Retries pictures that failed to load.
// Guarantees: one request per connection at a time, every few seconds or as the service's Retry-After says. The first success retries all. Gives
// up on pictures that don't exist. Hidden pages send no requests.

import { createLru } from "@/lib/shared/lru";

type LostPicture = { url: string; onAvailable: () => void; onMissing: () => void };

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 8_000;
/** A missing picture may appear soon, as after a restart, so it is requested this many times. */
const MAX_MISSES = 4;
const TIMEOUT_MS = 20_000;

/** A picture that fails again this soon after loading can't be displayed. */
const RELOAD_GAP_MS = 10_000;
const loadedAtMs = createLru<string, number>({ max: 500 });

const waitingByConnection = new Map<string, Set<LostPicture>>();

/** Returns a function that cancels it. */
export function retryLostPictures(url: string, onAvailable: () => void): () => void {
  // Created by this page, so no server can send it again.
  if (/^(?:blob|data):/.test(url)) return () => undefined;
  const connection = /[?&]connection=([^&#]*)/.exec(url)?.[1] ?? "";
  let missCount = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onMissing = () => {
    missCount += 1;
    if (missCount < MAX_MISSES) timer = setTimeout(enqueue, FIRST_DELAY_MS * 4 ** missCount);
  };
  const lostPicture: LostPicture = { url, onAvailable, onMissing };
  const enqueue = () => {
    const waiting = waitingByConnection.get(connection);
    if (waiting) return void waiting.add(lostPicture);
    const first = new Set([lostPicture]);
    waitingByConnection.set(connection, first);
    void retryOneByOne(first).finally(() => waitingByConnection.delete(connection));
  };
  enqueue();
  return () => {
    clearTimeout(timer);
    waitingByConnection.get(connection)?.delete(lostPicture);
  };
}

async function retryOneByOne(waiting: Set<LostPicture>): Promise<void> {
  let failed = 0;
  for (let [lostPicture] = waiting; lostPicture; [lostPicture] = waiting) {
    const { status, retryMs } = await fetchPicture(lostPicture.url);
    // Cancelled meanwhile.
    if (!waiting.delete(lostPicture)) continue;
    if (status === 0 || status === 429 || status >= 500) {
      waiting.add(lostPicture);
      await waitUntilVisible(Math.min(MAX_DELAY_MS, retryMs ?? FIRST_DELAY_MS * 2 ** failed));
      failed += 1;
      continue;
    }
    if (status === 200 && isReload(lostPicture.url)) lostPicture.onAvailable();
    // The bytes arrived but can't be displayed, so retrying does not help.
    else if (status !== 204 && status !== 200) lostPicture.onMissing();
    if (failed === 0) continue;
    for (const { onAvailable } of waiting) onAvailable();
    waiting.clear();
  }
}

function isReload(url: string): boolean {
  const lastMs = loadedAtMs.get(url) ?? -RELOAD_GAP_MS;
  loadedAtMs.set(url, performance.now());
  return performance.now() - lastMs >= RELOAD_GAP_MS;
}

/** Status 0 means that the console did not respond. */
async function fetchPicture(url: string): Promise<{ status: number; retryMs?: number }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    // Reads to the end, so that the browser caches it.
    await response.blob();
    const seconds = Number(response.headers.get("retry-after"));
    return { status: response.status, ...(seconds > 0 && { retryMs: seconds * 1_000 }) };
  } catch {
    return { status: 0 };
  }
}

function waitUntilVisible(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const checkVisibility = () => {
      if (document.visibilityState === "hidden") return;
      document.removeEventListener("visibilitychange", checkVisibility);
      resolve();
    };
    setTimeout(() => {
      document.addEventListener("visibilitychange", checkVisibility);
      checkVisibility();
    }, ms);
  });
}
