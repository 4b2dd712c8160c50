// Jobs that the index could not record are read again. Until then, nothing older counts as indexed.
import { rm } from "node:fs/promises";
import { afterEach, expect, test, vi } from "vitest";
import { type Failure } from "@/lib/contract/failure";
import { type JobListItem, type JobsResponse } from "@/lib/contract/schemas/job";
import { createJobIndex } from "@/lib/server/job-index/job-index";
import { toJobResponse, toJobUpdates } from "@/lib/server/job-index/job-updates";
import { createLog } from "@/lib/server/log";
import { openStore } from "@/lib/server/store/store";
import { failed, ok } from "@/lib/shared/result";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";

const NEWEST_MS = Date.UTC(2026, 4, 3);
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

type StoredIndex = { folder: string; id: string; jobs: JobListItem[] };

/** Runs 20 times as fast as real time, since the reader reads a page every 5 s. */
function createFastClock() {
  const startMs = Date.now();
  return () => startMs + 20 * (Date.now() - startMs);
}

/** Creates a job index that also indexes each page its reader reads, like the console does when streaming. */
async function createIndexHarness(previous?: StoredIndex, now = createFastClock()) {
  const folder = previous?.folder ?? createTemporaryFolder();
  const store = openStore(folder);
  await store.migrate();
  const id = previous?.id ?? (await store.connections.create({ name: "Studio", baseUrl: "http://studio.test", createdAt: 1 })).id;
  const jobIndex = createJobIndex({ store, log: createLog("silent"), now, maxJobs: 10_000 });
  cleanups.push(
    () => rm(folder, { recursive: true, force: true }),
    () => store.close(),
    () => jobIndex.stop(),
  );
  const jobs = previous?.jobs ?? [];
  type State = { isBusy: boolean; pageCount: number; isHanging: boolean; requests: { atMs: number; limit: unknown }[]; refusal?: Failure };
  const state: State = { isBusy: false, pageCount: 0, isHanging: false, requests: [] };
  const indexResponse = (response: JobsResponse) => {
    // Fills the queue so that this page can't be indexed.
    for (let count = 0; state.isBusy && count < 50; count += 1) jobIndex.record(id, () => []);
    jobIndex.record(id, () => toJobUpdates(toJobResponse("jobs", response) ?? { subject: "jobs", value: { ...response, jobs: [] } }));
  };
  const getPage = (offset: number, limit: number): JobsResponse => {
    const page = jobs.slice(offset, offset + limit);
    return { jobs: page, pagination: { offset, limit, total: jobs.length, has_more: offset + page.length < jobs.length } };
  };
  jobIndex.reader.markUsed(id, {
    jobs: ({ query }) => {
      state.pageCount += 1;
      state.requests.push({ atMs: now(), limit: query?.limit });
      if (state.refusal) return Promise.resolve(failed(state.refusal));
      if (state.isHanging) return new Promise(() => undefined);
      const page = getPage(Number(query?.offset), Number(query?.limit));
      indexResponse(page);
      return Promise.resolve(ok(page));
    },
  });
  const addJobs = (count: number) => {
    for (let index = 0; index < count; index += 1)
      jobs.unshift({ id: `job-${jobs.length}`, status: "completed", create_time: NEWEST_MS + jobs.length * 1000 } as JobListItem);
  };
  const countIndexed = async () =>
    (await store.jobIndexStore.countByTime(id, "completed", { fromMs: 0, toMs: 2 * NEWEST_MS })).reduce((sum, { count }) => sum + count, 0);
  return {
    jobIndex,
    id,
    folder,
    jobs,
    add: addJobs,
    indexedCount: countIndexed,
    state,
    getNewestPage: () => getPage(0, 200),
    getWholeList: () => getPage(0, jobs.length),
    pass: indexResponse,
  };
}

test("reports a gap until a dropped page is read again", async () => {
  const { jobIndex, id, add, indexedCount, state, getNewestPage, pass } = await createIndexHarness();
  add(20);
  await until("the existing jobs are indexed", async () => (await indexedCount()) === 20);
  add(30);
  state.isBusy = true;
  pass(getNewestPage());
  await jobIndex.reader.recordNewest(id, getNewestPage());
  state.isBusy = false;
  expect(jobIndex.reader.getGap(id)).toBeDefined();
  await until("all jobs are indexed", async () => (await indexedCount()) === 50);
  await until("no gap is left", () => jobIndex.reader.getGap(id) === undefined);
});

test("reads dropped pages again", async () => {
  const { add, indexedCount, state } = await createIndexHarness();
  add(2500);
  await until("the newest jobs are indexed", async () => (await indexedCount()) >= 1000);
  state.isBusy = true;
  const pages = state.pageCount;
  await until("pages are dropped", () => state.pageCount > pages);
  state.isBusy = false;
  await until("all jobs are indexed", async () => (await indexedCount()) === 2500);
});

test("stops without waiting for a hung service or a long write, and resumes", async () => {
  const { jobIndex, add, indexedCount, state, getWholeList, pass, ...storeState } = await createIndexHarness();
  add(1000);
  state.isHanging = true;
  await until("the service receives a request", () => state.pageCount > 0);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  pass(getWholeList());
  const stopped = jobIndex.stop();
  await vi.advanceTimersByTimeAsync(5000);
  await stopped;
  vi.useRealTimers();
  const countBefore = await indexedCount();
  expect(countBefore).toBeLessThan(1000);
  const next = await createIndexHarness(storeState);
  expect(await next.indexedCount()).toBe(countBefore);
  await until("all jobs are indexed", async () => (await next.indexedCount()) === 1000);
});

test("writes all waiting responses together", async () => {
  const { jobIndex, id, jobs, add, indexedCount, pass, getNewestPage } = await createIndexHarness();
  add(30);
  const ended = getNewestPage();
  const running = { ...ended, jobs: ended.jobs.map((job): JobListItem => ({ ...job, status: "in_progress" })) };
  pass(running);
  pass({ ...ended, jobs: ended.jobs.slice(0, 10) });
  pass({ ...ended, jobs: ended.jobs.slice(10) });
  await jobIndex.flush();
  expect(await indexedCount()).toBe(jobs.length);
  expect(jobIndex.reader.getGap(id)).toBeUndefined();
});

test("reads a page at most every 5 s and none during a requested wait", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  const { jobIndex, id, add, indexedCount, state } = await createIndexHarness(undefined, Date.now);
  add(3500);
  const search = async (seconds: number) => {
    for (let count = 0; count < 4 * seconds; count += 1) {
      void jobIndex.reader.refresh(id);
      await vi.advanceTimersByTimeAsync(250);
    }
  };
  await search(60);
  const waits = state.requests.slice(1).map(({ atMs }, index) => atMs - (state.requests[index]?.atMs ?? 0));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(5000);
  expect(state.requests.length).toBeGreaterThan(5);
  expect(Math.max(...state.requests.map(({ limit }) => Number(limit)))).toBe(1000);
  // Searches do not block reading the list.
  expect(await indexedCount()).toBe(3500);
  state.refusal = { code: "RATE_LIMITED", message: "slow down", status: 429, retryAfterMs: 40_000 };
  await search(6);
  const countBefore = state.requests.length;
  state.refusal = undefined;
  await search(30);
  expect(state.requests.length).toBe(countBefore);
  expect(await jobIndex.reader.refresh(id)).toBeDefined();
  await search(20);
  expect(state.requests.length).toBeGreaterThan(countBefore);
  // Waits a minute when the service sends no Retry-After.
  state.refusal = { code: "RATE_LIMITED", message: "slow down", status: 429 };
  await search(6);
  const refusedCount = state.requests.length;
  state.refusal = undefined;
  await search(50);
  expect(state.requests.length).toBe(refusedCount);
  await search(20);
  expect(state.requests.length).toBeGreaterThan(refusedCount);
});
