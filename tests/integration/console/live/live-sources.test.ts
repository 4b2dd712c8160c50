// Live updates of a local server: its /ws reports changes and progress, and a flood of messages becomes a few events.
import sharp from "sharp";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { createReader } from "@/lib/server/live/reader";
import { connectLocalServer } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { createLivePath, type LiveStream, openLiveStream } from "@/tests/support/live-stream";
import { startLocalServer } from "@/tests/support/servers";
import { until } from "@/tests/support/until";

const sockets: WebSocket[] = [];
const openStreams: LiveStream[] = [];
const peers = new WebSocketServer({ noServer: true });
const harness = await createHarness();
const server = await startLocalServer(undefined, {
  upgrade: (request, socket, head) => peers.handleUpgrade(request, socket, head, (peer) => void sockets.push(peer)),
});
const { connection, send } = await connectLocalServer(harness, server.url);
afterAll(async () => {
  for (const stream of openStreams) await stream.close();
  for (const socket of sockets) socket.terminate();
});

async function openWatch() {
  const stream = await openLiveStream(harness, createLivePath([`queue?connection=${connection}`]));
  openStreams.push(stream);
  await stream.waitFor("a snapshot", ({ event }) => event === "snapshot");
  const socket = await until("the console connects to the WebSocket", () => sockets.at(-1));
  return { stream, socket, sendEvent: (type: string, data: object) => socket.send(JSON.stringify({ type, data })) };
}

/** Creates a reader of a list of jobs without a service. */
function createTestReader(listJobs: () => Promise<object[]>, getProgress: () => { step: number } | undefined) {
  let seq = 0;
  const reader = createReader({
    name: "jobs",
    isServiceTopic: true,
    read: async () => ({ ok: true, value: { text: JSON.stringify({ jobs: await listJobs() }), unreadable: 0 } }),
    getCacheFailure: () => undefined,
    nextSeq: () => (seq += 1),
    now: Date.now,
    hasChangeEvents: () => true,
    getProgress,
    onChange: () => undefined,
    onError: (error) => {
      throw error;
    },
  });
  return { reader, getSeq: () => seq };
}

const status = { status: { exec_info: { queue_remaining: 1 } } };

it("reads a list when the server reports a change", async () => {
  const { stream, sendEvent } = await openWatch();
  // From now on the console relies on the events.
  sendEvent("status", { ...status, sid: "x" });
  await until("the first event arrives", () => stream.getData("snapshot").length > 0);
  const id = server.submit();
  sendEvent("status", status);
  const hasJob = () => stream.getData("snapshot").some(({ value }) => JSON.stringify(value).includes(id));
  // Without the event, the list is read after 8 seconds or more.
  await until("the job", hasJob, { timeoutMs: 6000 });
});

it("coalesces a flood of messages and sends the newest last", async () => {
  const { stream, sendEvent } = await openWatch();
  const id = server.submit();
  server.state.running.push(...server.state.pending.splice(0).filter(([, row]) => row === id));
  sendEvent("status", status);
  const isRunning = ({ value }: { value: unknown }) => (value as { running: { id: string }[] }).running.some((row) => row.id === id);
  await until("the job runs", () => stream.getData("snapshot").some(isRunning));
  sendEvent("execution_start", { prompt_id: id });
  sendEvent("executing", { prompt_id: id, node: "1" });
  for (let value = 1; value <= 20_000; value += 1) sendEvent("progress", { prompt_id: id, node: "1", value, max: 40_000 });
  await until("some progress", () => stream.getData("job.progress").length > 0);
  // A service that sends too much is ignored for the rest of the second.
  await until("the last step", () => {
    sendEvent("progress", { prompt_id: id, node: "1", value: 30_000, max: 40_000 });
    return stream.getData("job.progress").at(-1)?.progress.step === 30_000;
  });
  expect(stream.getData("job.progress").every(({ id: eventId }) => eventId === id)).toBe(true);
  expect(stream.received.length).toBeLessThan(100);
  const newViewer = await openWatch();
  expect(newViewer.stream.received.length).toBeLessThan(4);
});

it("sends the outputs of a running job as they arrive", async () => {
  const { stream, sendEvent } = await openWatch();
  const [job] = server.state.running;
  const id = job?.[1] ?? "";
  const output = { images: [{ filename: "a.png", subfolder: "", type: "output" }] };
  sendEvent("executed", { prompt_id: id, node: "1", output });
  const liveOutputs = await until("the output", () => stream.getData("job.progress").find(({ progress }) => progress.outputs));
  expect(liveOutputs).toMatchObject({ id, progress: { outputs: { "1": output } } });
});

it("sends a new viewer the progress of all running jobs", async () => {
  const rows = ["a", "b"].map((id) => ({ id, status: "in_progress", outputs_count: 0 }));
  const { reader } = createTestReader(
    () => Promise.resolve(rows),
    () => ({ step: 3 }),
  );
  const listEvents = () =>
    reader.getItemsSince(undefined).map(({ event, body }) => `${event} ${/"id":"(.)","progress"/.exec(body)?.[1] ?? ""}`);
  await until("the progress of both", () => listEvents().length === 3);
  Object.assign(rows[1] ?? {}, { outputs_count: 1 });
  reader.trigger();
  await until("the change", () => reader.getItemsSince(0).some(({ body }) => body.includes('"outputs_count":1')));
  expect(listEvents().slice(0, 2)).toEqual(["snapshot ", "job.progress a"]);
  const seqs = reader.getItemsSince(undefined).map(({ seq: eventSeq }) => eventSeq);
  expect(seqs).toEqual(seqs.toSorted((seq, other) => seq - other));
  reader.stop();
});

describe("a viewer's row", () => {
  type Row = { status: string; progress?: { step: number } };
  /** Creates a reader of one job and a viewer that applies the reader's events. */
  function createRowViewer(readGate?: Promise<void>) {
    let row: Row = { status: "in_progress" };
    let step = 0;
    let cursor: number | undefined;
    let shownRow: Row | undefined;
    let readCount = 0;
    const listJobs = async () => {
      readCount += 1;
      const job = { id: "a", ...row };
      await readGate;
      return [job];
    };
    const { reader, getSeq } = createTestReader(listJobs, () => (step === 0 ? undefined : { step }));
    return {
      collect() {
        const items = reader.getItemsSince(cursor).toSorted((live, other) => live.seq - other.seq);
        cursor = getSeq();
        for (const { event, body } of items) {
          const data = JSON.parse(`{${body}}`) as { value?: { jobs: Row[] }; job?: Row; progress?: { step: number } };
          if (event === "job.progress" && shownRow) shownRow = { ...shownRow, progress: data.progress };
          else shownRow = data.value?.jobs[0] ?? data.job ?? shownRow;
        }
        return { status: shownRow?.status, step: shownRow?.progress?.step };
      },
      async change(next: Row) {
        row = next;
        const before = readCount;
        reader.trigger();
        await vi.advanceTimersByTimeAsync(5000);
        expect(readCount).toBeGreaterThan(before);
      },
      async advance(ms = 300) {
        step += 1;
        reader.scheduleProgress("a");
        await vi.advanceTimersByTimeAsync(ms);
      },
      getReadCount: () => readCount,
      getSeq,
      reader,
    };
  }
  type RowViewer = ReturnType<typeof createRowViewer>;
  const actions = {
    progress: (item: RowViewer) => item.advance(),
    "progress at the end": (item: RowViewer) => item.advance(0),
    change: (item: RowViewer) => item.change({ status: "in_progress", progress: { step: 0 } }),
    end: (item: RowViewer) => item.change({ status: "completed" }),
  };
  const orders: (keyof typeof actions)[][] = [
    ["progress", "change"],
    ["change", "progress"],
    ["progress", "change", "progress"],
    ["progress", "end"],
    ["end", "progress"],
    ["progress at the end", "end"],
    ["progress", "change", "end", "progress"],
    ["change", "progress", "end", "progress"],
  ];
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
  afterEach(() => void vi.useRealTimers());

  it.each(orders.flatMap((order) => ([true, false] as const).map((isSlow) => [order.join(", "), isSlow, order] as const)))(
    "has the newest state after %s, with a slow viewer: %s",
    async (_name, isSlow, order) => {
      const item = createRowViewer();
      await vi.advanceTimersByTimeAsync(300);
      item.collect();
      for (const action of order) {
        await actions[action](item);
        if (!isSlow) item.collect();
      }
      const hasEnded = order.includes("end");
      const steps = order.filter((step) => step === "progress").length;
      expect(item.collect()).toEqual(hasEnded ? { status: "completed", step: undefined } : { status: "in_progress", step: steps });
      item.reader.stop();
    },
  );

  it("advances at most four times a second", async () => {
    const item = createRowViewer();
    await vi.advanceTimersByTimeAsync(300);
    const before = item.getSeq();
    for (let count = 0; count < 1000; count += 1) await item.advance(1);
    expect(item.getSeq() - before).toBeLessThanOrEqual(4);
    expect(item.collect().step).toBeGreaterThan(700);
    item.reader.stop();
  });

  it("is read again when a change arrives during a read", async () => {
    let respond = (): void => undefined;
    const item = createRowViewer(new Promise((resolve) => (respond = resolve)));
    item.reader.trigger();
    respond();
    await vi.advanceTimersByTimeAsync(2000);
    expect(item.getReadCount()).toBe(2);
    item.reader.stop();
  });
});

it("shows the newest preview of a running job and ignores other bytes", async () => {
  const { stream, socket } = await openWatch();
  const [job] = server.state.running;
  const id = job?.[1] ?? "";
  const path = `/api/console/jobs/${id}/preview`;
  expect((await send(path)).status).toBe(404);
  const sendFrame = (bytes: Buffer) => socket.send(Buffer.concat([Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]), bytes]));
  const picture = await sharp({ create: { width: 8, height: 8, channels: 3, background: "red" } })
    .jpeg()
    .toBuffer();
  sendFrame(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"));
  await until("the preview", () => {
    // Only some of the frames in quick succession are read.
    sendFrame(picture);
    return stream.getData("job.progress").some(({ progress }) => progress.preview !== undefined);
  });
  const response = await send(path);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
  expect(Buffer.from(await response.arrayBuffer())).toEqual(picture);
  expect((await send(path, { as: "runner" })).status).toBe(403);
  const newViewer = await openWatch();
  await newViewer.stream.waitFor("the preview", (item) => item.event === "job.progress" && item.data.progress.preview !== undefined);
});
