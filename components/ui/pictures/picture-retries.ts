// Pictures that failed to load: each is requested again until its service gives a definite answer.
// Guarantees: one request per connection at a time; during failures every few seconds, or when the service says, and the first
// success retries all; a picture that does not exist or stays missing is given up; a hidden page requests nothing.
// Must never: show anything. It calls the component, which loads the picture, once it may be available.

import { createLru } from "@/lib/shared/lru";

type Lost = { address: string; back: () => void; missing: () => void };

const FIRST_MS = 1_000;
const MAX_MS = 8_000;
/** A missing picture may appear soon, as after a restart: it is requested this many times. */
const MAX_MISSED = 4;
const LIMIT_MS = 20_000;

/** A picture that loaded and was lost this soon cannot be displayed. */
const SOON_MS = 10_000;
const cameMs = createLru<string, number>({ max: 500 });

const waitingOf = new Map<string, Set<Lost>>();

/** Returns a function that cancels it. */
export function retryLostPictures(address: string, back: () => void): () => void {
  // Made by this page itself, so no server can send it again.
  if (/^(?:blob|data):/.test(address)) return () => undefined;
  const connection = /[?&]connection=([^&#]*)/.exec(address)?.[1] ?? "";
  let missed = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const missing = () => {
    missed += 1;
    if (missed < MAX_MISSED) timer = setTimeout(wait, FIRST_MS * 4 ** missed);
  };
  const lostPicture: Lost = { address, back, missing };
  const wait = () => {
    const waiting = waitingOf.get(connection);
    if (waiting) return void waiting.add(lostPicture);
    const first = new Set([lostPicture]);
    waitingOf.set(connection, first);
    void askThrough(first).finally(() => waitingOf.delete(connection));
  };
  wait();
  return () => {
    clearTimeout(timer);
    waitingOf.get(connection)?.delete(lostPicture);
  };
}

async function askThrough(waiting: Set<Lost>): Promise<void> {
  let failed = 0;
  for (let [lostPicture] = waiting; lostPicture; [lostPicture] = waiting) {
    const { status, retryMs } = await look(lostPicture.address);
    // Cancelled meanwhile.
    if (!waiting.delete(lostPicture)) continue;
    if (status === 0 || status === 429 || status >= 500) {
      waiting.add(lostPicture);
      await seenAfter(Math.min(MAX_MS, retryMs ?? FIRST_MS * 2 ** failed));
      failed += 1;
      continue;
    }
    if (status === 200 && isNews(lostPicture.address)) lostPicture.back();
    // Bytes that arrived but cannot be displayed will not improve.
    else if (status !== 204 && status !== 200) lostPicture.missing();
    if (failed === 0) continue;
    for (const { back } of waiting) back();
    waiting.clear();
  }
}

function isNews(address: string): boolean {
  const lastMs = cameMs.get(address) ?? -SOON_MS;
  cameMs.set(address, performance.now());
  return performance.now() - lastMs >= SOON_MS;
}

/** 0: the console did not answer. */
async function look(address: string): Promise<{ status: number; retryMs?: number }> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(LIMIT_MS) });
    // Reads to the end, so that the browser caches it.
    await response.blob();
    const seconds = Number(response.headers.get("retry-after"));
    return { status: response.status, ...(seconds > 0 && { retryMs: seconds * 1_000 }) };
  } catch {
    return { status: 0 };
  }
}

function seenAfter(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.visibilityState === "hidden") return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    setTimeout(() => {
      document.addEventListener("visibilitychange", look);
      look();
    }, ms);
  });
}
