// Measures a page's network traffic in the browser: requests and their bytes.
import { type CDPSession } from "@playwright/test";

export type FetchedResource = { url: string; kind: string; bytes: number };

export async function watchTraffic(cdp: CDPSession) {
  const fetched = new Map<string, FetchedResource>();
  const pendingIds = new Set<string>();
  let changedAtMs = performance.now();
  const markEnded = (id: string, bytes = 0) => {
    const entry = fetched.get(id);
    if (entry) entry.bytes += bytes;
    pendingIds.delete(id);
    changedAtMs = performance.now();
  };
  cdp.on("Network.requestWillBeSent", ({ requestId, request, type }) => {
    if (!/^https?:/.test(request.url)) return;
    // A redirect is one more request under the same id.
    const id = fetched.has(requestId) ? `${requestId} ${fetched.size}` : requestId;
    fetched.set(id, { url: request.url, kind: type ?? "Other", bytes: 0 });
    // The stream of live updates never ends, and the end of a shared worker's script isn't reported to the page.
    if (!/\/api\/console\/events\?|\/turbopack-worker-[^?]*\?params=/.test(request.url)) pendingIds.add(requestId);
    changedAtMs = performance.now();
  });
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => markEnded(requestId, encodedDataLength));
  cdp.on("Network.loadingFailed", ({ requestId }) => markEnded(requestId));
  await cdp.send("Network.enable");
  return {
    listResources: () => [...fetched.values()],
    getKibibytes: () => [...fetched.values()].reduce((sum, { bytes }) => sum + bytes, 0) / 1024,
    /** Whether nothing was requested or in transit for this long. */
    isQuietFor: (ms: number) => pendingIds.size === 0 && performance.now() - changedAtMs > ms,
  };
}
