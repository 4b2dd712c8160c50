// A service that accepts requests and never answers: a person's other actions are not held up.
import { afterEach, expect, test } from "vitest";
import { operations } from "@/lib/contract/operations";
import { jobsQuerySchema } from "@/lib/contract/schemas/job";
import { storeApiKey } from "@/lib/server/keys/key-ring";
import { listJobs } from "@/lib/server/queries/jobs";
import { createSilences } from "@/lib/server/upstream/deadline";
import { createHttpSend, type HttpSend } from "@/lib/server/upstream/send";
import { createUpstream } from "@/lib/server/upstream/upstream";
import { createHarness } from "@/tests/support/harness";
import { answerJson, type LittleServer, startLittleServer } from "@/tests/support/little-server";
import { until } from "@/tests/support/until";

const open: (LittleServer | HttpSend)[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function behind(isBack: () => boolean = () => false) {
  const server = await startLittleServer((_, response) => {
    if (isBack()) answerJson(response, { status: "active" });
  });
  const send = createHttpSend();
  open.push(server, send);
  const limits = { readMs: 60_000, silentMs: 600 };
  const upstream = createUpstream({
    baseUrl: server.url,
    apiKey: "k",
    send,
    limits,
    silences: { of: createSilences(), service: "c" },
  });
  return { upstream, server };
}

test("of many reads one is waited for to the end, and the others say soon that there is no answer", async () => {
  const { upstream } = await behind();
  const leaving = new AbortController();
  const ended: string[] = [];
  const reads = Array.from({ length: 6 }, (_, index) =>
    upstream.call(operations.getUser, { signal: leaving.signal, waits: "poll" }).then((result) => {
      ended.push(result.ok ? "answered" : result.failure.code);
      return index;
    }),
  );
  // No browser waits for this call, so it has a longer limit.
  const background = upstream.call(operations.getUser, { signal: leaving.signal }).then(() => void ended.push("background"));
  await until("all but the patient one are over", () => ended.length === 5);
  expect(ended).toEqual(Array(5).fill("UPSTREAM_TIMEOUT"));
  expect(ended).not.toContain("background");
  leaving.abort();
  await Promise.all([...reads, background]);
});

test("a read that waits on a line which nobody answers any more is asked again as soon as another one is answered", async () => {
  let isBack = false;
  const { upstream, server } = await behind(() => isBack);
  const ask = () => upstream.call(operations.getUser, { waits: "poll" });
  const patient = ask();
  await until("the patient one is asked", () => server.seen.length === 1);
  const second = await ask();
  expect(second).toMatchObject({ ok: false, failure: { code: "UPSTREAM_TIMEOUT" } });
  isBack = true;
  // Its first connection is still open and never answers.
  await until("somebody is answered", async () => (await ask()).ok);
  expect(await patient).toMatchObject({ ok: true, value: { status: "active" } });
});

test("a page is not kept waiting for as long as a read of its own may take", async () => {
  const harness = await createHarness({ upstreamLimits: { pageMs: 100, readMs: 20_000 } });
  const server = await startLittleServer(() => undefined);
  open.push(server);
  const { store, ring, now } = harness.console;
  const { id } = await store.connections.create({ name: "Silent", baseUrl: server.url, createdAt: now() });
  await storeApiKey(store.keys, ring, { connectionId: id, apiKey: "k", now: now() });
  const listed = await listJobs(harness.contextOf("viewer"), jobsQuerySchema.parse({}), id);
  expect(listed).toMatchObject({ ok: false, failure: { code: "UPSTREAM_TIMEOUT", message: expect.stringContaining("within 1 s") } });
  await harness.dispose();
});
