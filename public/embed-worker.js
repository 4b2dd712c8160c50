// Adds the session's bearer token to all requests of an embedded page, for browsers that block cookies in frames.
// The token is sent only to this origin, below its session's path. It is kept in memory only; after a restart of the worker, the session's
// pages return it.
const PAGES_TIMEOUT_MS = 1000;
const bearers = new Map();
const sessionPathOf = (url) =>
  url.origin === location.origin ? /\/embed\/[\w-]{6,40}\/[a-z0-9]{8,40}(?=\/|$)/.exec(url.pathname)?.[0] : undefined;

self.addEventListener("install", (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("message", ({ data, source, ports: [port] }) => {
  const sessionPath = source && sessionPathOf(new URL(source.url));
  if (!sessionPath || typeof data !== "object" || data === null) return;
  if (data.kind === "keep" && typeof data.bearer === "string") bearers.set(sessionPath, data.bearer);
  else if (data.kind === "forget") bearers.delete(sessionPath);
  else if (data.kind !== "tell") return;
  port?.postMessage(bearers.get(sessionPath));
});

self.addEventListener("fetch", (event) => {
  const sessionPath = sessionPathOf(new URL(event.request.url));
  if (sessionPath) event.respondWith(respond(event.request, sessionPath));
});

async function respond(request, sessionPath) {
  const bearer = bearers.get(sessionPath) ?? (await requestFromPages(sessionPath));
  if (bearer === undefined) return fetch(request);
  bearers.set(sessionPath, bearer);
  const headers = new Headers(request.headers);
  headers.set("authorization", `Bearer ${bearer}`);
  return fetch(new Request(request, { headers, mode: "same-origin", credentials: "same-origin" }));
}

/** Requests the token from the session's pages after a restart. Pages without it reply, too, so that this doesn't wait for the timeout. */
async function requestFromPages(sessionPath) {
  const pages = (await self.clients.matchAll({ type: "window", includeUncontrolled: true })).filter(
    ({ url }) => sessionPathOf(new URL(url)) === sessionPath,
  );
  const replies = pages.map(
    (page) =>
      new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => resolve(typeof data === "string" ? data : undefined);
        page.postMessage({ kind: "ask" }, [port2]);
      }),
  );
  const bearer = Promise.any(replies.map((pageReply) => pageReply.then((reply) => reply ?? Promise.reject()))).catch(() => undefined);
  return Promise.race([bearer, new Promise((resolve) => setTimeout(resolve, PAGES_TIMEOUT_MS))]);
}
