import { once } from "node:events";
import sharp from "sharp";
import { afterEach, describe, expect, it } from "vitest";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type EventSocket, getRefusalStatus, openEventSocket } from "@/tests/support/event-socket";
import { createHttpClient, createKey, openServiceProcess, runServiceCommand } from "@/tests/support/service-process";
import { until } from "@/tests/support/until";
import { asRecord, createColorGraph, createWaitGraph, readJob, submitGraph } from "./support";

const openSockets: EventSocket[] = [];
const { client, dataDir, key, service } = await openServiceProcess();
afterEach(async () => {
  for (const socket of openSockets.splice(0)) await socket.close();
});

async function connectSocket(query: string, headers: Record<string, string> = { "x-api-key": key }, path = "/ws"): Promise<EventSocket> {
  const socket = await openEventSocket(`${service.url}${path}${query}`, headers);
  openSockets.push(socket);
  return socket;
}
const listTypes = (socket: EventSocket, id: string) => socket.getMessages(id).map(({ type }) => type);

describe("event connections", () => {
  it("accepts a key by header or token at /ws and /api/ws", async () => {
    for (const path of ["/ws", "/api/ws"])
      for (const { received } of [
        await connectSocket("?clientId=mine", { "x-api-key": key }, path),
        await connectSocket("?clientId=mine", { authorization: `Bearer ${key}` }, path),
        await connectSocket(`?clientId=mine&token=${key}`, {}, path),
      ]) {
        await until("the first status has arrived", () => received.length > 0);
        expect(received[0]).toEqual({ type: "status", data: { status: { exec_info: { queue_remaining: 0 } }, sid: "mine" } });
      }
  });

  it("rejects missing, unknown and revoked keys with 401, other paths with 404", async () => {
    const revokedKey = await createKey(dataDir, "revoked-user");
    await runServiceCommand(dataDir, "keys", "revoke", revokedKey.slice(0, 11));
    for (const headers of [{}, { "x-api-key": "ld-nothing" }, { "x-api-key": revokedKey }] as Record<string, string>[])
      expect(await getRefusalStatus(`${service.url}/ws`, headers)).toBe(401);
    expect(await getRefusalStatus(`${service.url}/api/jobs`, { "x-api-key": key })).toBe(404);
  });
});

describe("job events", () => {
  it("reports a job from start to end with an image that can be fetched", async () => {
    const socket = await connectSocket("?clientId=a");
    const id = await submitGraph(client, createColorGraph(0x10203, 64), { client_id: "a" });
    await socket.waitForEnd(id);
    const reportedTypes = listTypes(socket, id).filter((type) => !type.startsWith("progress"));
    expect(reportedTypes).toEqual([
      "execution_start",
      "execution_cached",
      "executing",
      "executing",
      "executed",
      "execution_success",
      "executing",
    ]);
    const executed = socket.getMessages(id).find(({ type }) => type === "executed")?.data;
    const [item] = asRecord(executed?.output).images as { filename: string; type: string }[];
    expect(executed).toMatchObject({ node: "2", display_node: "2", output: { images: [{ type: "output", subfolder: "" }] } });
    expect((await client.get(`/view?filename=${item?.filename}&type=${item?.type}`)).status).toBe(200);
    // The remaining count is debounced, so that many jobs cause one message.
    const emptyStatus = { status: { exec_info: { queue_remaining: 0 } } };
    const getLastStatus = () => socket.received.findLast(({ type }) => type === "status")?.data;
    await until("an empty queue is reported", () => writeExactJson(getLastStatus()) === writeExactJson(emptyStatus));
  });

  it("sends a node's outputs while others run, until the job is cancelled", async () => {
    const socket = await connectSocket("");
    const waitNode = { class_type: "Wait", inputs: { seconds: 600, anything: ["1", 0] } };
    const saveNode = { class_type: "SaveImage", inputs: { images: ["3", 0], filename_prefix: "late" } };
    const id = await submitGraph(client, { ...createColorGraph(0x1f2f3f, 48), "3": waitNode, "4": saveNode });
    const listExecuted = () => socket.getMessages(id).filter(({ type }) => type === "executed");
    await until("the first image is reported", () => listExecuted().length > 0);
    const [item] = asRecord(asRecord(listExecuted()[0]?.data).output).images as { filename: string; type: string }[];
    const address = `/view?filename=${item?.filename}&type=${item?.type}`;
    const image = await client.get(address);
    expect([image.status, image.headers.get("content-type")]).toEqual([200, "image/png"]);
    const thumbnail = await client.get(`${address}&res=64`);
    expect([thumbnail.status, thumbnail.headers.get("content-type")]).toEqual([200, "image/webp"]);
    const otherClient = createHttpClient(service.url, await createKey(dataDir, "mallory"));
    expect((await otherClient.get(address)).status).toBe(404);
    expect((await client.get(`/api/jobs/${id}`)).body).toMatchObject({ status: "in_progress" });

    await client.post(`/job/${id}/cancel`);
    await socket.waitForEnd(id);
    expect(listExecuted()).toHaveLength(1);
    await until("the cancelled job's image is deleted", async () => (await client.get(address)).status === 404);
  });

  it("sends a JPEG preview of at most 256 px, progress and the state of every node", async () => {
    const socket = await connectSocket("");
    const image = { class_type: "EmptyImage", inputs: { width: 640, height: 320, batch_size: 1, color: 0x336699 } };
    const id = await submitGraph(client, { ...createWaitGraph(20), "1": image });
    const listProgress = () => socket.getMessages(id).filter(({ type, data }) => type === "progress" && data.node === "2");
    await until("a preview and progress have arrived", () => socket.previews.length > 0 && listProgress().length > 1);
    const [preview = Buffer.alloc(0)] = socket.previews;
    expect([preview.readUInt32BE(0), preview.readUInt32BE(4)]).toEqual([1, 1]);
    const { data, info } = await sharp(preview.subarray(8)).raw().toBuffer({ resolveWithObject: true });
    expect(info).toMatchObject({ width: 256, height: 128 });
    for (const [channel, value] of [0x33, 0x66, 0x99].entries()) expect(Math.abs((data[channel] ?? 0) - value)).toBeLessThan(4);
    for (const { data: progress } of listProgress()) expect(progress).toMatchObject({ max: 100, value: expect.any(Number) });
    const state = socket.getMessages(id).findLast(({ type }) => type === "progress_state")?.data;
    expect(state?.nodes).toMatchObject({ "1": { state: "finished" }, "2": { state: "running", prompt_id: id } });
    await client.post(`/job/${id}/cancel`);
    await socket.waitForEnd(id);
  });

  it("sends previews of a batch's finished images while its node runs", async () => {
    const socket = await connectSocket("");
    const image = { class_type: "EmptyImage", inputs: { width: 256, height: 256, batch_size: 200, color: 0x336699 } };
    const blur = { class_type: "ImageBlur", inputs: { image: ["1", 0], blur_radius: 31, sigma: 1 } };
    const save = { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "a" } };
    const id = await submitGraph(client, { "1": image, "2": blur, "3": save });
    await until("two previews have arrived", () => socket.previews.length > 1);
    const isSaving = socket.getMessages(id).some(({ type, data }) => type === "executing" && data.node === "3");
    await client.post(`/job/${id}/cancel`);
    await socket.waitForEnd(id);
    expect(isSaving).toBe(false);
  });

  it("sends the state of nodes that finished before the client connected", async () => {
    const id = await submitGraph(client, createWaitGraph(600, 0x12));
    await until("the first node has finished", async () => Number(asRecord((await readJob(client, id)).progress ?? {}).nodes_done) > 0);
    const socket = await connectSocket("");
    const state = await until("a state has arrived", () => socket.getMessages(id).find(({ type }) => type === "progress_state")?.data);
    expect(state.nodes).toMatchObject({ "1": { state: "finished" }, "2": { state: "running" } });
    await client.post(`/job/${id}/cancel`);
    await socket.waitForEnd(id);
  });

  it("reports cached outputs when nothing has to run", async () => {
    const socket = await connectSocket("");
    await socket.waitForEnd(await submitGraph(client, createColorGraph(4711)));
    const id = await submitGraph(client, createColorGraph(4711));
    await socket.waitForEnd(id);
    expect(socket.getMessages(id).find(({ type }) => type === "execution_cached")?.data.nodes).toEqual(["1", "2"]);
    expect(listTypes(socket, id)).toEqual(["execution_start", "execution_cached", "executed", "execution_success", "executing"]);
  });

  it("reports a failed job's error and a cancelled job's interruption", async () => {
    const socket = await connectSocket("");
    const failingGraph = {
      ...createColorGraph(9),
      "3": { class_type: "Fail", inputs: { message: "on purpose", anything: ["1", 0] } },
      "4": { class_type: "PreviewImage", inputs: { images: ["3", 0] } },
    };
    const failedId = await submitGraph(client, failingGraph);
    await socket.waitForEnd(failedId);
    const error = socket.getMessages(failedId).find(({ type }) => type === "execution_error")?.data;
    expect(error).toMatchObject({ node_id: "3", node_type: "Fail", exception_message: "on purpose", executed: expect.any(Array) });

    const cancelledId = await submitGraph(client, createWaitGraph(600, 78));
    await until("the job runs", () => listTypes(socket, cancelledId).includes("executing"));
    expect((await client.post(`/job/${cancelledId}/cancel`)).body).toEqual({ cancelled: true });
    await socket.waitForEnd(cancelledId);
    expect(listTypes(socket, cancelledId)).toContain("execution_interrupted");
    expect(listTypes(socket, cancelledId)).not.toContain("executed");
  });

  it("sends events to the submitting client and to clients without an id", async () => {
    const [ownEvents, otherEvents] = [await connectSocket("?clientId=m"), await connectSocket("?clientId=o")];
    const allEvents = await connectSocket("");
    const otherSocket = await connectSocket("", { "x-api-key": await createKey(dataDir, "eve") });
    const id = await submitGraph(client, createColorGraph(31), { client_id: "m" });
    for (const socket of [ownEvents, allEvents]) await socket.waitForEnd(id);
    const broadcastId = await submitGraph(client, createColorGraph(32));
    for (const socket of [ownEvents, otherEvents, allEvents]) await socket.waitForEnd(broadcastId);
    expect(otherEvents.getMessages(id)).toEqual([]);
    expect(otherSocket.received.map(({ type }) => type)).toEqual(["status"]);
  });

  it("updates the remaining count when a pending job is cancelled", async () => {
    const socket = await connectSocket("");
    const ids = [];
    for (const color of [1, 2, 3, 4]) ids.push(await submitGraph(client, createWaitGraph(600, color)));
    const getRemaining = () =>
      asRecord(asRecord(socket.received.findLast(({ type }) => type === "status")?.data.status).exec_info).queue_remaining;
    await until("four remaining jobs are reported", () => getRemaining() === 4);
    await client.post("/queue", { clear: true });
    await until("two remaining jobs are reported", () => getRemaining() === 2);
    await client.post("/api/jobs/cancel", { job_ids: ids });
    await until("no remaining jobs are reported", () => getRemaining() === 0);
  });
});

it("disconnects clients that send too much, and all when it stops", async () => {
  const noisySocket = await connectSocket("");
  noisySocket.socket.send("x".repeat(100_000));
  expect((await once(noisySocket.socket, "close"))[0]).toBe(1009);
  const idleSocket = await connectSocket("");
  const closing = once(idleSocket.socket, "close");
  expect(await service.stop("SIGTERM")).toBe(0);
  expect((await closing)[0]).toBe(1001);
});
