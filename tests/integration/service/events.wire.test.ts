import { once } from "node:events";
import sharp from "sharp";
import { afterEach, describe, expect, it } from "vitest";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type EventSocket, getRefusalStatus, openEvents } from "@/tests/support/event-socket";
import { createKey, httpClient, openServiceProcess, serviceCommand } from "@/tests/support/service-process";
import { until } from "@/tests/support/until";
import { asRecord, canvas, submit, waitGraph } from "./support";

const open: EventSocket[] = [];
const { client, dataDir, key, service } = await openServiceProcess();
afterEach(async () => {
  for (const socket of open.splice(0)) await socket.close();
});

async function listen(query: string, headers: Record<string, string> = { "x-api-key": key }, path = "/ws"): Promise<EventSocket> {
  const socket = await openEvents(`${service.url}${path}${query}`, headers);
  open.push(socket);
  return socket;
}
const types = (socket: EventSocket, id: string) => socket.of(id).map(({ type }) => type);

describe("listeners", () => {
  it("accepts any key by header or token at /ws and /api/ws", async () => {
    for (const path of ["/ws", "/api/ws"]) {
      const byHeader = await listen("?clientId=mine", { "x-api-key": key }, path);
      const byBearer = await listen("?clientId=mine", { authorization: `Bearer ${key}` }, path);
      const byToken = await listen(`?clientId=mine&token=${key}`, {}, path);
      for (const { received } of [byHeader, byBearer, byToken]) {
        await until("it is greeted", () => received.length > 0);
        expect(received[0]).toEqual({ type: "status", data: { status: { exec_info: { queue_remaining: 0 } }, sid: "mine" } });
      }
    }
  });

  it("excludes missing, unknown and revoked keys with 401 and other paths with 404", async () => {
    const revoked = await createKey(dataDir, "gone");
    await serviceCommand(dataDir, "keys", "revoke", revoked.slice(0, 11));
    for (const headers of [{}, { "x-api-key": "ld-nothing" }, { "x-api-key": revoked }] as Record<string, string>[])
      expect(await getRefusalStatus(`${service.url}/ws`, headers)).toBe(401);
    expect(await getRefusalStatus(`${service.url}/api/jobs`, { "x-api-key": key })).toBe(404);
  });
});

describe("job events", () => {
  it("reports a job from start to end with a picture that can be fetched", async () => {
    const socket = await listen("?clientId=a");
    const id = await submit(client, canvas(0x10203, 64), { client_id: "a" });
    await socket.over(id);
    const reportedTypes = types(socket, id).filter((type) => !type.startsWith("progress"));
    expect(reportedTypes).toEqual([
      "execution_start",
      "execution_cached",
      "executing",
      "executing",
      "executed",
      "execution_success",
      "executing",
    ]);
    const executed = socket.of(id).find(({ type }) => type === "executed")?.data;
    const [item] = asRecord(executed?.output).images as { filename: string; type: string }[];
    expect(executed).toMatchObject({ node: "2", display_node: "2", output: { images: [{ type: "output", subfolder: "" }] } });
    expect((await client.get(`/view?filename=${item?.filename}&type=${item?.type}`)).status).toBe(200);
    // The number of remaining jobs is sent a moment later, so that many jobs cause one message.
    const isEmpty = { status: { exec_info: { queue_remaining: 0 } } };
    const last = () => socket.received.findLast(({ type }) => type === "status")?.data;
    await until("the queue is told to be empty", () => writeExactJson(last()) === writeExactJson(isEmpty));
  });

  it("sends each node's outputs while others run, until it is cancelled", async () => {
    const socket = await listen("");
    const slow = { "3": { class_type: "Wait", inputs: { seconds: 600, anything: ["1", 0] } } };
    const last = { "4": { class_type: "SaveImage", inputs: { images: ["3", 0], filename_prefix: "late" } } };
    const id = await submit(client, { ...canvas(0x1f2f3f, 48), ...slow, ...last });
    const executed = () => socket.of(id).filter(({ type }) => type === "executed");
    await until("the first picture is told", () => executed().length > 0);
    const [item] = asRecord(asRecord(executed()[0]?.data).output).images as { filename: string; type: string }[];
    const address = `/view?filename=${item?.filename}&type=${item?.type}`;
    const whole = await client.get(address);
    expect([whole.status, whole.headers.get("content-type")]).toEqual([200, "image/png"]);
    const small = await client.get(`${address}&res=64`);
    expect([small.status, small.headers.get("content-type")]).toEqual([200, "image/webp"]);
    const eve = httpClient(service.url, await createKey(dataDir, "mallory"));
    expect((await eve.get(address)).status).toBe(404);
    expect((await client.get(`/api/jobs/${id}`)).body).toMatchObject({ status: "in_progress" });

    await client.post(`/job/${id}/cancel`);
    await socket.over(id);
    expect(executed()).toHaveLength(1);
    await until("a cancelled job keeps nothing", async () => (await client.get(address)).status === 404);
  });

  it("sends a JPEG preview of at most 256 px after a message of the job", async () => {
    const socket = await listen("");
    const graph = {
      "1": { class_type: "EmptyImage", inputs: { width: 640, height: 320, batch_size: 1, color: 0x336699 } },
      "2": { class_type: "Wait", inputs: { seconds: 600, anything: ["1", 0] } },
      "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "preview" } },
    };
    const id = await submit(client, graph);
    await until("a preview has arrived", () => socket.previews.length > 0);
    const [preview = Buffer.alloc(0)] = socket.previews;
    expect([preview.readUInt32BE(0), preview.readUInt32BE(4)]).toEqual([1, 1]);
    const { data, info } = await sharp(preview.subarray(8)).raw().toBuffer({ resolveWithObject: true });
    expect(info).toMatchObject({ width: 256, height: 128 });
    for (const [channel, value] of [0x33, 0x66, 0x99].entries()) expect(Math.abs((data[channel] ?? 0) - value)).toBeLessThan(4);
    expect(socket.of(id).some(({ type, data: { node } }) => type === "progress" && node === "2")).toBe(true);
    await client.post(`/job/${id}/cancel`);
    await socket.over(id);
  });

  it("reports numeric progress and the state of every started node", async () => {
    const socket = await listen("");
    const id = await submit(client, waitGraph(0.6, 77));
    await socket.over(id);
    const progress = socket.of(id).filter(({ type, data }) => type === "progress" && data.node === "2");
    expect(progress.length).toBeGreaterThan(1);
    for (const { data } of progress) expect(data).toMatchObject({ max: 100, value: expect.any(Number) });
    const state = socket.of(id).findLast(({ type }) => type === "progress_state")?.data;
    expect(state?.nodes).toMatchObject({ "1": { state: "finished" }, "3": { state: "running", prompt_id: id } });
  });

  it("reports cached outputs when nothing has to run", async () => {
    const socket = await listen("");
    await socket.over(await submit(client, canvas(4711)));
    const id = await submit(client, canvas(4711));
    await socket.over(id);
    expect(socket.of(id).find(({ type }) => type === "execution_cached")?.data.nodes).toEqual(["1", "2"]);
    expect(types(socket, id)).toEqual(["execution_start", "execution_cached", "executed", "execution_success", "executing"]);
  });

  it("reports a failed job with the node's error, or an interruption", async () => {
    const socket = await listen("");
    const failing = {
      ...canvas(9),
      "3": { class_type: "Fail", inputs: { message: "on purpose", anything: ["1", 0] } },
      "4": { class_type: "PreviewImage", inputs: { images: ["3", 0] } },
    };
    const failed = await submit(client, failing);
    await socket.over(failed);
    const error = socket.of(failed).find(({ type }) => type === "execution_error")?.data;
    expect(error).toMatchObject({ node_id: "3", node_type: "Fail", exception_message: "on purpose", executed: expect.any(Array) });

    const stopped = await submit(client, waitGraph(600, 78));
    await until("it runs", () => types(socket, stopped).includes("executing"));
    expect((await client.post(`/job/${stopped}/cancel`)).body).toEqual({ cancelled: true });
    await socket.over(stopped);
    expect(types(socket, stopped)).toContain("execution_interrupted");
    expect(types(socket, stopped)).not.toContain("executed");
  });

  it("sends events to the submitting client and to clients without an id", async () => {
    const [ownEvents, otherEvents, all] = [await listen("?clientId=m"), await listen("?clientId=o"), await listen("")];
    const otherSocket = await listen("", { "x-api-key": await createKey(dataDir, "eve") });
    const id = await submit(client, canvas(31), { client_id: "m" });
    for (const socket of [ownEvents, all]) await socket.over(id);
    const free = await submit(client, canvas(32));
    for (const socket of [ownEvents, otherEvents, all]) await socket.over(free);
    expect(otherEvents.of(id)).toEqual([]);
    expect(otherSocket.received.map(({ type }) => type)).toEqual(["status"]);
  });

  it("updates the remaining count when a pending job is cancelled", async () => {
    const socket = await listen("");
    const ids = [];
    for (const color of [1, 2, 3, 4]) ids.push(await submit(client, waitGraph(600, color)));
    const remaining = () =>
      asRecord(asRecord(socket.received.findLast(({ type }) => type === "status")?.data.status).exec_info).queue_remaining;
    await until("four are told", () => remaining() === 4);
    await client.post("/queue", { clear: true });
    await until("two are told", () => remaining() === 2);
    await client.post("/api/jobs/cancel", { job_ids: ids });
    await until("none is told", () => remaining() === 0);
  });
});

it("disconnects a client that sends too much, and all on a stop", async () => {
  const loud = await listen("");
  loud.socket.send("x".repeat(100_000));
  expect((await once(loud.socket, "close"))[0]).toBe(1009);
  const quiet = await listen("");
  const closing = once(quiet.socket, "close");
  expect(await service.stop("SIGTERM")).toBe(0);
  expect((await closing)[0]).toBe(1001);
});
