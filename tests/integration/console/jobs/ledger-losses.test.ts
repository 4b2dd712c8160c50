// Jobs that the ledger could not record are read again; until then, nothing older counts as known.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { type Failure } from "@/lib/contract/failure";
import { type JobListItem, type JobsAnswer } from "@/lib/contract/schemas/job";
import { createLedger } from "@/lib/server/ledger/ledger";
import { answeredOf, notesOf } from "@/lib/server/ledger/notes";
import { createLog } from "@/lib/server/log";
import { openStore } from "@/lib/server/store/store";
import { failed, ok } from "@/lib/shared/result";
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

/** A ledger that gets each page that its reader reads, as the console does when it passes answers on. */
async function world(before?: Kept, now = fastClock()) {
  const folder = before?.folder ?? (await mkdtemp(join(tmpdir(), "lightdesk-ledger-")));
  const store = openStore(folder);
  await store.migrate();
  const id = before?.id ?? (await store.connections.create({ name: "Studio", baseUrl: "http://studio.test", createdAt: 1 })).id;
  const ledger = createLedger({ store, log: createLog("silent"), now, most: 10_000 });
  ends.push(
    () => rm(folder, { recursive: true, force: true }),
    () => store.close(),
    () => ledger.stop(),
  );
  const jobs = before?.jobs ?? [];
  type State = { isBusy: boolean; pages: number; hangs: boolean; requests: { atMs: number; limit: unknown }[]; refusal?: Failure };
  const state: State = { isBusy: false, pages: 0, hangs: false, requests: [] };
  const pass = (answer: JobsAnswer) => {
    // So much arrived at once that there was no room for this page.
    for (let count = 0; state.isBusy && count < 50; count += 1) ledger.see(id, () => []);
    ledger.see(id, () => notesOf(answeredOf("jobs", answer) ?? { tells: "jobs", value: { ...answer, jobs: [] } }));
  };
  const pageOf = (offset: number, limit: number): JobsAnswer => {
    const page = jobs.slice(offset, offset + limit);
    return { jobs: page, pagination: { offset, limit, total: jobs.length, has_more: offset + page.length < jobs.length } };
  };
  ledger.reader.used(id, {
    jobs: ({ query }) => {
      state.pages += 1;
      state.requests.push({ atMs: now(), limit: query?.limit });
      if (state.refusal) return Promise.resolve(failed(state.refusal));
      if (state.hangs) return new Promise(() => undefined);
      const answer = pageOf(Number(query?.offset), Number(query?.limit));
      pass(answer);
      return Promise.resolve(ok(answer));
    },
  });
  const add = (count: number) => {
    for (let at = 0; at < count; at += 1)
      jobs.unshift({ id: `job-${jobs.length}`, status: "completed", create_time: NEWEST_MS + jobs.length * 1000 } as JobListItem);
  };
  const known = async () =>
    (await store.jobLedger.countByTime(id, "completed", { fromMs: 0, toMs: 2 * NEWEST_MS })).reduce((sum, { count }) => sum + count, 0);
  return { ledger, id, folder, jobs, add, known, state, newestPage: () => pageOf(0, 200), wholeList: () => pageOf(0, jobs.length), pass };
}

test("a newest page that found no room is read again, and what is behind it is unread until then", async () => {
  const { ledger, id, add, known, state, newestPage, pass } = await world();
  add(20);
  await until("what there was is known", async () => (await known()) === 20);
  add(30);
  state.isBusy = true;
  pass(newestPage());
  await ledger.reader.sawNewest(id, newestPage());
  state.isBusy = false;
  expect(ledger.reader.gapOf(id)).toBeDefined();
  await until("all of it is known", async () => (await known()) === 50);
  await until("nothing is unread any more", () => ledger.reader.gapOf(id) === undefined);
});

test("a page that the reader read and that found no room is read again", async () => {
  const { add, known, state, ledger, id } = await world();
  add(2500);
  await until("the newest are known", async () => (await known()) >= 1000);
  state.isBusy = true;
  const pages = state.pages;
  await until("pages were lost", () => state.pages > pages);
  state.isBusy = false;
  await until("all of it is known", async () => (await known()) === 2500);
  add(3);
  state.isBusy = true;
  const before = state.pages;
  const search = () => ledger.reader.refresh(id);
  await until("a page was lost", async () => (await search(), state.pages > before));
  state.isBusy = false;
  await until("what came last is known too", async () => (await search(), (await known()) === 2503));
});

test("a stop waits neither for a service that hangs nor for a long list to be written, and the next start reads what was left out", async () => {
  const { ledger, add, known, state, wholeList, pass, ...kept } = await world();
  add(1000);
  state.hangs = true;
  await until("the service was asked", () => state.pages > 0);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  pass(wholeList());
  const stopped = ledger.stop();
  await vi.advanceTimersByTimeAsync(5000);
  await stopped;
  vi.useRealTimers();
  const written = await known();
  expect(written).toBeLessThan(1000);
  const next = await world(kept);
  expect(await next.known()).toBe(written);
  await until("all of it is known", async () => (await next.known()) === 1000);
});

test("answers that wait together are all written", async () => {
  const { ledger, id, jobs, add, known, pass, newestPage } = await world();
  add(30);
  const ended = newestPage();
  const running = { ...ended, jobs: ended.jobs.map((job): JobListItem => ({ ...job, status: "in_progress" })) };
  pass(running);
  pass({ ...ended, jobs: ended.jobs.slice(0, 10) });
  pass({ ...ended, jobs: ended.jobs.slice(10) });
  await ledger.settled();
  expect(await known()).toBe(jobs.length);
  expect(ledger.reader.gapOf(id)).toBeUndefined();
});

test("a page is read at most every 5 s, also for searches, and none while the service asks to wait", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  const { ledger, id, add, known, state } = await world(undefined, Date.now);
  add(3500);
  const search = async (seconds: number) => {
    for (let count = 0; count < 4 * seconds; count += 1) {
      void ledger.reader.refresh(id);
      await vi.advanceTimersByTimeAsync(250);
    }
  };
  await search(60);
  const waits = state.requests.slice(1).map(({ atMs }, at) => atMs - (state.requests[at]?.atMs ?? 0));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(5000);
  expect(state.requests.length).toBeGreaterThan(5);
  expect(Math.max(...state.requests.map(({ limit }) => Number(limit)))).toBe(1000);
  // Searches do not keep the list from being read.
  expect(await known()).toBe(3500);
  state.refusal = { code: "RATE_LIMITED", message: "slow down", status: 429, retryAfterMs: 40_000 };
  await search(6);
  const before = state.requests.length;
  state.refusal = undefined;
  await search(30);
  expect(state.requests.length).toBe(before);
  expect(await ledger.reader.refresh(id)).toBeDefined();
  await search(20);
  expect(state.requests.length).toBeGreaterThan(before);
  // A minute, where the service names no time.
  state.refusal = { code: "RATE_LIMITED", message: "slow down", status: 429 };
  await search(6);
  const refused = state.requests.length;
  state.refusal = undefined;
  await search(50);
  expect(state.requests.length).toBe(refused);
  await search(20);
  expect(state.requests.length).toBeGreaterThan(refused);
  vi.useRealTimers();
});
