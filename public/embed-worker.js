// For embedded pages in browsers that store no cookie there: adds the session's bearer to the frame's requests, pages and pictures too.
// Guarantees: a bearer is sent to this origin only, below the address of its own session, and kept in memory alone: this worker's, and that
// of the pages it asks when the browser has stopped it in between.
const ASK_MS = 1000;
const bearers = new Map();
const placeOf = (url) =>
  url.origin === location.origin ? /\/embed\/[\w-]{6,40}\/[a-z0-9]{8,40}(?=\/|$)/.exec(url.pathname)?.[0] : undefined;

self.addEventListener("install", (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("message", ({ data, source, ports: [port] }) => {
  const place = source && placeOf(new URL(source.url));
  if (!place || typeof data !== "object" || data === null) return;
  if (data.kind === "keep" && typeof data.bearer === "string") bearers.set(place, data.bearer);
  else if (data.kind === "forget") bearers.delete(place);
  else if (data.kind !== "tell") return;
  port?.postMessage(bearers.get(place));
});

self.addEventListener("fetch", (event) => {
  const place = placeOf(new URL(event.request.url));
  if (place) event.respondWith(answer(event.request, place));
});

async function answer(request, place) {
  const bearer = bearers.get(place) ?? (await askPages(place));
  if (bearer === undefined) return fetch(request);
  bearers.set(place, bearer);
  const headers = new Headers(request.headers);
  headers.set("authorization", `Bearer ${bearer}`);
  return fetch(new Request(request, { headers, mode: "same-origin", credentials: "same-origin" }));
}

/** A restarted worker has lost the bearer; the session's pages have it. A page without one replies so, and nothing waits for it. */
async function askPages(place) {
  const pages = (await self.clients.matchAll({ type: "window", includeUncontrolled: true })).filter(
    ({ url }) => placeOf(new URL(url)) === place,
  );
  const replies = pages.map(
    (page) =>
      new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => resolve(typeof data === "string" ? data : undefined);
        page.postMessage({ kind: "ask" }, [port2]);
      }),
  );
  const bearer = Promise.any(replies.map((one) => one.then((reply) => reply ?? Promise.reject()))).catch(() => undefined);
  return Promise.race([bearer, new Promise((resolve) => setTimeout(resolve, ASK_MS))]);
}
