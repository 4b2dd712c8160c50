// Jobs that the index could not record are read again. Until then, nothing older counts as indexed.
import { rm } from "node:fs/promises";
import { afterEach, expect, test, vi } from "vitest";
import { type Failure } from "@/lib/contract/failure";
import { type JobListItem, type JobsAnswer } from "@/lib/contract/schemas/job";
import { createJobIndex } from "@/lib/server/job-index/job-index";
import { toJobResponse, toNotes } from "@/lib/server/job-index/job-notes";
import { createLog } from "@/lib/server/log";
import { openStore } from "@/lib/server/store/store";
import { failed, ok } from "@/lib/shared/result";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";

const NEWEST_MS = Date.UTC(2026, 4, 3);
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const end of ends.splice(0).reverse()) await end();
});

type Kept = { folder: string; id: string; jobs: JobListItem[] };

/** The reader reads a page every 5 s. */
function fastClock() {
  const startMs = Date.now();
  return () => startMs + 20 * (Date.now() - startMs);
}

/** A job index that receives each page that its reader reads, like the console does when streaming. */
async function world(before?: Kept, now = fastClock()) {
  const folder = before?.folder ?? temporaryFolder();
  const store = openStore(folder);
  await store.migrate();
  const id = before?.id ?? (await store.connections.create({ name: "Studio", baseUrl: "http://studio.test", createdAt: 1 })).id;
  const jobIndex = createJobIndex({ store, log: createLog("silent"), now, maxJobs: 10_000 });
  ends.push(
    () => rm(folder, { recursive: true, force: true }),
    () => store.close(),
    () => jobIndex.stop(),
  );
  const jobs = before?.jobs ?? [];
  type State = { isBusy: boolean; pages: number; hangs: boolean; requests: { atMs: number; limit: unknown }[]; refusal?: Failure };
  const state: State = { isBusy: false, pages: 0, hangs: false, requests: [] };
  const pass = (response: JobsAnswer) => {
    // Too much arrived at once to index this page.
    for (let count = 0; state.isBusy && count < 50; count += 1) jobIndex.see(id, () => []);
    jobIndex.see(id, () => toNotes(toJobResponse("jobs", response) ?? { subject: "jobs", value: { ...response, jobs: [] } }));
  };
  const getPage = (offset: number, limit: number): JobsAnswer => {
    const page = jobs.slice(offset, offset + limit);
    return { jobs: page, pagination: { offset, limit, total: jobs.length, has_more: offset + page.length < jobs.length } };
  };
  jobIndex.reader.markUsed(id, {
    jobs: ({ query }) => {
      state.pages += 1;
      state.requests.push({ atMs: now(), limit: query?.limit });
      if (state.refusal) return Promise.resolve(failed(state.refusal));
      if (state.hangs) return new Promise(() => undefined);
      const page = getPage(Number(query?.offset), Number(query?.limit));
      pass(page);
      return Promise.resolve(ok(page));
    },
  });
  const add = (count: number) => {
    for (let at = 0; at < count; at += 1)
      jobs.unshift({ id: `job-${jobs.length}`, status: "completed", create_time: NEWEST_MS + jobs.length * 1000 } as JobListItem);
  };
  const indexedCount = async () =>
    (await store.jobIndexStore.countByTime(id, "completed", { fromMs: 0, toMs: 2 * NEWEST_MS })).reduce((sum, { count }) => sum + count, 0);
  return {
    jobIndex,
    id,
    folder,
    jobs,
    add,
    indexedCount,
    state,
    newestPage: () => getPage(0, 200),
    wholeList: () => getPage(0, jobs.length),
    pass,
  };
}

test("rereads a page that did not fit and marks older jobs as unread", async () => {
  const { jobIndex, id, add, indexedCount, state, newestPage, pass } = await world();
  add(20);
  await until("what there was is known", async () => (await indexedCount()) === 20);
  add(30);
  state.isBusy = true;
  pass(newestPage());
  await jobIndex.reader.noteNewest(id, newestPage());
  state.isBusy = false;
  expect(jobIndex.reader.gapOf(id)).toBeDefined();
  await until("all of it is known", async () => (await indexedCount()) === 50);
  await until("nothing is unread any more", () => jobIndex.reader.gapOf(id) === undefined);
});

test("rereads a page that did not fit", async () => {
  const { add, indexedCount, state, jobIndex, id } = await world();
  add(2500);
  await until("the newest are known", async () => (await indexedCount()) >= 1000);
  state.isBusy = true;
  const pages = state.pages;
  await until("pages were lost", () => state.pages > pages);
  state.isBusy = false;
  await until("all of it is known", async () => (await indexedCount()) === 2500);
  add(3);
  state.isBusy = true;
  const before = state.pages;
  const search = () => jobIndex.reader.refresh(id);
  await until("a page was lost", async () => (await search(), state.pages > before));
  state.isBusy = false;
  await until("what came last is known too", async () => (await search(), (await indexedCount()) === 2503));
});

test("stops without waiting for a hung service or a long write, and resumes", async () => {
  const { jobIndex, add, indexedCount, state, wholeList, pass, ...storeState } = await world();
  add(1000);
  state.hangs = true;
  await until("the service was asked", () => state.pages > 0);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  pass(wholeList());
  const stopped = jobIndex.stop();
  await vi.advanceTimersByTimeAsync(5000);
  await stopped;
  vi.useRealTimers();
  const countBefore = await indexedCount();
  expect(countBefore).toBeLessThan(1000);
  const next = await world(storeState);
  expect(await next.indexedCount()).toBe(countBefore);
  await until("all of it is known", async () => (await next.indexedCount()) === 1000);
});

test("writes all responses that wait together", async () => {
  const { jobIndex, id, jobs, add, indexedCount, pass, newestPage } = await world();
  add(30);
  const ended = newestPage();
  const running = { ...ended, jobs: ended.jobs.map((job): JobListItem => ({ ...job, status: "in_progress" })) };
  pass(running);
  pass({ ...ended, jobs: ended.jobs.slice(0, 10) });
  pass({ ...ended, jobs: ended.jobs.slice(10) });
  await jobIndex.settled();
  expect(await indexedCount()).toBe(jobs.length);
  expect(jobIndex.reader.gapOf(id)).toBeUndefined();
});

test("reads a page at most every 5 s and none during a requested wait", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  const { jobIndex, id, add, indexedCount, state } = await world(undefined, Date.now);
  add(3500);
  const search = async (seconds: number) => {
    for (let count = 0; count < 4 * seconds; count += 1) {
      void jobIndex.reader.refresh(id);
      await vi.advanceTimersByTimeAsync(250);
    }
  };
  await search(60);
  const waits = state.requests.slice(1).map(({ atMs }, at) => atMs - (state.requests[at]?.atMs ?? 0));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(5000);
  expect(state.requests.length).toBeGreaterThan(5);
  expect(Math.max(...state.requests.map(({ limit }) => Number(limit)))).toBe(1000);
  // Searches do not block reading the list.
  expect(await indexedCount()).toBe(3500);
  state.refusal = { code: "RATE_LIMITED", message: "slow down", status: 429, retryAfterMs: 40_000 };
  await search(6);
  const before = state.requests.length;
  state.refusal = undefined;
  await search(30);
  expect(state.requests.length).toBe(before);
  expect(await jobIndex.reader.refresh(id)).toBeDefined();
  await search(20);
  expect(state.requests.length).toBeGreaterThan(before);
  // A minute, if the service sends no time.
  state.refusal = { code: "RATE_LIMITED", message: "slow down", status: 429 };
  await search(6);
  const refused = state.requests.length;
  state.refusal = undefined;
  await search(50);
  expect(state.requests.length).toBe(refused);
  await search(20);
  expect(state.requests.length).toBeGreaterThan(refused);
});
