// Sockets and memory limits of live outputs, with fake feeds and a fake clock.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createLiveOutputs, type ReportTarget } from "@/lib/server/responses/live-outputs";
import { type Feed, feedCloseCodes } from "@/lib/shared/http-types";

const CHECK_INTERVAL_MS = 30_000;
type OpenedFeed = { target: ReportTarget; isStopped: boolean; findDenialReason: Feed["findDenialReason"] };
let feeds: OpenedFeed[] = [];
let hasFeed = true;
let outputs: ReturnType<typeof createLiveOutputs>;
const openLiveOutputs = (name: string) =>
  outputs.subscribe(name, (target) => {
    const item: OpenedFeed = { target, isStopped: false, findDenialReason: () => undefined };
    feeds.push(item);
    return Promise.resolve(hasFeed ? { stop: () => (item.isStopped = true), findDenialReason: () => item.findDenialReason() } : undefined);
  });

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  [feeds, hasFeed] = [[], true];
  outputs = createLiveOutputs(() => Date.now());
});
afterEach(() => {
  outputs.stop();
});

const advanceTime = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const output = { images: [{ filename: "a.png", subfolder: "", type: "output" }] };
async function sendEvent(data: object, { feedIndex = 0, type = "executed" } = {}): Promise<void> {
  feeds[feedIndex]?.target.send(JSON.stringify({ type, data }));
  await advanceTime(1);
}

it("shares one socket per connection and key", async () => {
  openLiveOutputs("c1");
  expect(openLiveOutputs("c1").get("j1")).toBeUndefined();
  await advanceTime(1);
  expect(feeds).toHaveLength(1);
  await sendEvent({ prompt_id: "j1", node: "3", output });
  await sendEvent({ prompt_id: "j1", node: "5", output: { text: ["done"] } });
  await sendEvent({ prompt_id: "j2", node: "3", output: { text: ["other"] } });
  expect(openLiveOutputs("c1").get("j1")?.outputs).toEqual({ "3": output, "5": { text: ["done"] } });
  expect(openLiveOutputs("c1 with another key").get("j1")).toBeUndefined();
});

it("drops unrelated messages and oversized outputs", async () => {
  openLiveOutputs("c1");
  await sendEvent({ prompt_id: "j1", node: "1" }, { type: "status" });
  await sendEvent({ node: "1", output });
  await sendEvent({ prompt_id: "j1", node: "2", output: { text: ["x".repeat(300_000)] } });
  feeds[0]?.target.send('no JSON with "executed"');
  feeds[0]?.target.send(new Uint8Array(8));
  await advanceTime(1);
  expect(openLiveOutputs("c1").get("j1")).toBeUndefined();
});

it("counts finished and cached nodes plus the running node's fraction", async () => {
  openLiveOutputs("c1");
  await sendEvent({ prompt_id: "j1", nodes: ["1", "2", 3] }, { type: "execution_cached" });
  const nodes = { "2": { state: "finished" }, "3": { state: "finished", value: 1, max: 1 }, "4": { state: "running", value: 5, max: 20 } };
  await sendEvent(
    { prompt_id: "j1", nodes: { ...nodes, "5": { state: "running", value: 1, max: 0 }, "6": "odd" } },
    { type: "progress_state" },
  );
  expect(openLiveOutputs("c1").get("j1")).toMatchObject({
    outputs: {},
    cachedNodes: ["1", "2"],
    progress: { done: 3, runningProgress: 0.25 },
  });
});

it("limits the number of cached nodes", async () => {
  openLiveOutputs("c1");
  await sendEvent({ prompt_id: "j1", nodes: Array.from({ length: 3000 }, (_, index) => `${index}`) }, { type: "execution_cached" });
  expect(openLiveOutputs("c1").get("j1")?.cachedNodes).toHaveLength(2000);
});

it("evicts the oldest jobs and connections", async () => {
  openLiveOutputs("c1");
  for (let job = 0; job < 210; job += 1)
    feeds[0]?.target.send(JSON.stringify({ type: "executed", data: { prompt_id: `j${job}`, node: "1", output } }));
  await advanceTime(1);
  expect(openLiveOutputs("c1").get("j9")).toBeUndefined();
  expect(openLiveOutputs("c1").get("j10")?.outputs).toEqual({ "1": output });
  const long = { text: ["x".repeat(200_000)] };
  for (let node = 0; node < 60; node += 1) await sendEvent({ prompt_id: node < 30 ? "long" : "longer", node: `${node}`, output: long });
  expect(["j209", "long"].map((job) => openLiveOutputs("c1").get(job))).toEqual([undefined, undefined]);
  expect(Object.keys(openLiveOutputs("c1").get("longer")?.outputs ?? {})).toHaveLength(20);
  for (let value = 2; value <= 51; value += 1) openLiveOutputs(`c${value}`);
  await advanceTime(1);
  expect(feeds.filter(({ isStopped }) => isStopped)).toEqual([feeds[0]]);
});

it("reopens a closed socket on demand, after a delay when the service has no socket", async () => {
  openLiveOutputs("c1");
  await advanceTime(1);
  await sendEvent({ prompt_id: "j1", node: "3", output });
  feeds[0]?.target.end({ code: feedCloseCodes.tryLater, reason: "gone" });
  await advanceTime(1);
  openLiveOutputs("c1");
  expect(feeds).toHaveLength(1);
  await advanceTime(10_000);
  expect(openLiveOutputs("c1").get("j1")?.outputs).toEqual({ "3": output });
  await advanceTime(1);
  expect(feeds).toHaveLength(2);
  feeds[1]?.target.end({ code: feedCloseCodes.notFound, reason: "no /ws" });
  await advanceTime(60_000);
  openLiveOutputs("c1");
  await advanceTime(1);
  expect(feeds).toHaveLength(2);
  await advanceTime(9 * 60_000);
  openLiveOutputs("c1");
  await advanceTime(1);
  expect(feeds).toHaveLength(3);
});

it("closes a socket after 30 idle minutes, a rejected key or shutdown", async () => {
  openLiveOutputs("c1");
  openLiveOutputs("c2");
  await advanceTime(1);
  const second = feeds[1];
  if (second) second.findDenialReason = () => "The key is no longer valid.";
  const [first] = feeds;
  if (first) first.findDenialReason = () => Promise.reject(new Error("The database is unavailable."));
  await advanceTime(CHECK_INTERVAL_MS);
  expect(feeds.map(({ isStopped }) => isStopped)).toEqual([false, true]);
  await advanceTime(30 * 60_000 + CHECK_INTERVAL_MS);
  expect(feeds.map(({ isStopped }) => isStopped)).toEqual([true, true]);
  openLiveOutputs("c1");
  await advanceTime(1);
  outputs.stop();
  expect(feeds[2]?.isStopped).toBe(true);
});

it("closes an idle service's socket when its last watcher stops or after a minute", async () => {
  const reportOpenJobs = (feed: OpenedFeed | undefined, queue_remaining: number) =>
    feed?.target.onStateChange(JSON.stringify({ type: "status", data: { status: { exec_info: { queue_remaining } } } }));
  for (const name of ["c1", "c2", "c3"]) openLiveOutputs(name);
  await advanceTime(1);
  const [idleFeed, busyFeed] = feeds;
  const idleWatches = [outputs.watch("c1", () => undefined), outputs.watch("c1", () => undefined)];
  const busyWatch = outputs.watch("c2", () => undefined);
  for (const [index, feed] of feeds.entries()) reportOpenJobs(feed, index === 1 ? 1 : 0);
  idleWatches[0]?.stop();
  busyWatch.stop();
  await advanceTime(60_000 + CHECK_INTERVAL_MS);
  expect(feeds.map(({ isStopped }) => isStopped)).toEqual([false, false, true]);
  idleWatches[1]?.stop();
  expect([idleFeed?.isStopped, busyFeed?.isStopped]).toEqual([true, false]);
});

it("retries later when no feed could be opened", async () => {
  hasFeed = false;
  openLiveOutputs("c1");
  await advanceTime(1);
  openLiveOutputs("c1");
  await advanceTime(10_000);
  expect(feeds).toHaveLength(1);
  openLiveOutputs("c1");
  expect(feeds).toHaveLength(2);
});
