// Retries pictures that failed to load.
// Guarantees: sends one request per connection at a time, every few seconds or as specified by the service's Retry-After header. The first success
// retries all pictures. Stops retrying pictures that don't exist. Hidden pages send no requests.

import { createLru } from "@/lib/shared/lru";

type FailedPicture = { url: string; onAvailable: () => void; onMissing: () => void };

const INITIAL_DELAY_MS = 1_000;
const MAX_DELAY_MS = 8_000;
/** A missing picture may become available, for example after a restart, so it is requested this many times. */
const MAX_MISSES = 4;
const TIMEOUT_MS = 20_000;

/** A picture that fails again within this time after loading can't be displayed. */
const MIN_RELOAD_INTERVAL_MS = 10_000;
const loadedAtMs = createLru<string, number>({ max: 500 });

const queueByConnection = new Map<string, Set<FailedPicture>>();

/** Returns a function that cancels the retries. */
export function retryFailedPicture(url: string, onAvailable: () => void): () => void {
  // The URL was created by this page, so retrying can't succeed.
  if (/^(?:blob|data):/.test(url)) return () => undefined;
  const connection = /[?&]connection=([^&#]*)/.exec(url)?.[1] ?? "";
  let missCount = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onMissing = () => {
    missCount += 1;
    if (missCount < MAX_MISSES) timer = setTimeout(enqueue, INITIAL_DELAY_MS * 4 ** missCount);
  };
  const failedPicture: FailedPicture = { url, onAvailable, onMissing };
  const enqueue = () => {
    const queue = queueByConnection.get(connection);
    if (queue) return void queue.add(failedPicture);
    const newQueue = new Set([failedPicture]);
    queueByConnection.set(connection, newQueue);
    void retrySequentially(newQueue).finally(() => queueByConnection.delete(connection));
  };
  enqueue();
  return () => {
    clearTimeout(timer);
    queueByConnection.get(connection)?.delete(failedPicture);
  };
}

async function retrySequentially(queue: Set<FailedPicture>): Promise<void> {
  let failureCount = 0;
  for (let [failedPicture] = queue; failedPicture; [failedPicture] = queue) {
    const { status, retryMs } = await fetchPicture(failedPicture.url);
    // The retry was cancelled during the request.
    if (!queue.delete(failedPicture)) continue;
    if (status === 0 || status === 429 || status >= 500) {
      queue.add(failedPicture);
      await waitUntilVisible(Math.min(MAX_DELAY_MS, retryMs ?? INITIAL_DELAY_MS * 2 ** failureCount));
      failureCount += 1;
      continue;
    }
    if (status === 200 && canReload(failedPicture.url)) failedPicture.onAvailable();
    // The bytes arrived but can't be displayed, so retrying does not help.
    else if (status !== 204 && status !== 200) failedPicture.onMissing();
    if (failureCount === 0) continue;
    for (const { onAvailable } of queue) onAvailable();
    queue.clear();
  }
}

function canReload(url: string): boolean {
  const lastMs = loadedAtMs.get(url) ?? -MIN_RELOAD_INTERVAL_MS;
  loadedAtMs.set(url, performance.now());
  return performance.now() - lastMs >= MIN_RELOAD_INTERVAL_MS;
}

/** Returns status 0 if the console did not respond. */
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
