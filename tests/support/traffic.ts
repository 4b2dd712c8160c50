// Measures a page's network traffic in the browser: requests and their bytes.
import { type CDPSession } from "@playwright/test";

export type FetchedResource = { url: string; kind: string; bytes: number };

export async function watchTraffic(cdp: CDPSession) {
  const fetched = new Map<string, FetchedResource>();
  const underWay = new Set<string>();
  let changedAtMs = performance.now();
  const ended = (id: string, bytes = 0) => {
    const entry = fetched.get(id);
    if (entry) entry.bytes += bytes;
    underWay.delete(id);
    changedAtMs = performance.now();
  };
  cdp.on("Network.requestWillBeSent", ({ requestId, request, type }) => {
    if (!/^https?:/.test(request.url)) return;
    // A redirect is one more request under the same id.
    const id = fetched.has(requestId) ? `${requestId} ${fetched.size}` : requestId;
    fetched.set(id, { url: request.url, kind: type ?? "Other", bytes: 0 });
    // The stream of live updates never ends.
    if (!request.url.includes("/api/console/events?")) underWay.add(requestId);
    changedAtMs = performance.now();
  });
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => ended(requestId, encodedDataLength));
  cdp.on("Network.loadingFailed", ({ requestId }) => ended(requestId));
  await cdp.send("Network.enable");
  return {
    fetched: () => [...fetched.values()],
    kibibytes: () => [...fetched.values()].reduce((sum, { bytes }) => sum + bytes, 0) / 1024,
    /** Whether nothing was requested or in transit for that long. */
    isQuietFor: (ms: number) => underWay.size === 0 && performance.now() - changedAtMs > ms,
  };
}
