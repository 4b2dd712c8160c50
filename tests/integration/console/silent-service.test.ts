// A service that takes requests and never answers: what a person does beside it is not held up.
import { afterEach, expect, test } from "vitest";
import { operations } from "@/lib/contract/operations";
import { jobsQuerySchema } from "@/lib/contract/schemas/job";
import { storeApiKey } from "@/lib/server/keys/api-keys";
import { listJobs } from "@/lib/server/queries/jobs";
import { createHttpSend, type HttpSend } from "@/lib/server/upstream/send-http";
import { createSilences } from "@/lib/server/upstream/silences";
import { createUpstream } from "@/lib/server/upstream/upstream";
import { createHarness } from "@/tests/support/harness";
import { answerJson, type LittleServer, startLittleServer } from "@/tests/support/little-server";
import { until } from "@/tests/support/until";

/** Long enough for an answer on a busy machine. */
const SILENT_MS = 1_000;
const open: (LittleServer | HttpSend)[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function behind(isHeard: (url: string) => boolean) {
  const server = await startLittleServer(
    ({ url }, response) => void (isHeard(url) && answerJson(response, { status: "active", jobs: [] })),
  );
  const send = createHttpSend();
  open.push(server, send);
  const limits = { readMs: 20_000, silentMs: SILENT_MS };
  const upstream = createUpstream({
    baseUrl: server.url,
    apiKey: "k",
    send,
    limits,
    silences: { of: createSilences(), connectionId: "c" },
  });
  return { server, upstream };
}

test("of many reads one is waited for to the end; the others say soon that there is no answer, and new ones at once", async () => {
  let isBack = false;
  const { server, upstream } = await behind(() => isBack);
  const leaving = new AbortController();
  const ended: string[] = [];
  const reads = Array.from({ length: 6 }, (_, index) =>
    upstream.call(operations.getUser, { signal: leaving.signal }).then((result) => {
      ended.push(result.ok ? "answered" : result.failure.code);
      return index;
    }),
  );
  await until("all but the patient one are over", () => ended.length === 5);
  expect(ended).toEqual(Array(5).fill("UPSTREAM_TIMEOUT"));
  // One that looks whether it is back, and from then on none.
  const looks = upstream.call(operations.getUser);
  await until("the look has arrived", () => server.seen.length === 7);
  const refused = await upstream.call(operations.getUser);
  expect(refused).toMatchObject({ ok: false, failure: { code: "UPSTREAM_TIMEOUT", status: 0 } });
  expect(server.seen).toHaveLength(7);
  expect((await looks).ok).toBe(false);
  isBack = true;
  expect((await upstream.call(operations.getUser)).ok).toBe(true);
  expect((await upstream.call(operations.getUser)).ok).toBe(true);
  leaving.abort();
  await Promise.all(reads);
});

test("a page is not kept waiting for as long as a read of its own may take", async () => {
  const harness = await createHarness({ upstreamLimits: { pageMs: 100, readMs: 20_000 } });
  const server = await startLittleServer(() => undefined);
  open.push(server);
  const { store, ring, now } = harness.console;
  const { id } = await store.connections.create({ name: "Silent", baseUrl: server.url, createdAt: now() });
  await storeApiKey(store.keys, ring, { connectionId: id, apiKey: "k", now: now() });
  const listed = await listJobs(harness.viewerOf("viewer"), jobsQuerySchema.parse({}), id);
  expect(listed).toMatchObject({ ok: false, failure: { code: "UPSTREAM_TIMEOUT", message: expect.stringContaining("within 1 s") } });
  await harness.dispose();
});

test("a slow read beside others that are answered is left its time, and so is a change", async () => {
  const { upstream } = await behind((url) => url.endsWith("/api/user"));
  const leaving = new AbortController();
  let over = 0;
  const slow = [operations.listJobs, operations.listHistory].map((operation) =>
    upstream.call(operation, { signal: leaving.signal }).then(() => void (over += 1)),
  );
  const change = upstream.call(operations.manageQueue, { json: { clear: true }, signal: leaving.signal }).then(() => void (over += 1));
  const startedMs = performance.now();
  // Answered again and again, for longer than a silence takes.
  while (performance.now() - startedMs < 2 * SILENT_MS) expect((await upstream.call(operations.getUser)).ok).toBe(true);
  expect(over).toBe(0);
  leaving.abort();
  await Promise.all([...slow, change]);
});
