// Names with NUL, control characters and characters that turn the direction of writing: stored and sent without them, wherever they come from.
import { afterEach, beforeEach, expect, it } from "vitest";
import { bytesAnswer } from "@/lib/server/requests/responses";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { startRunnerServer } from "@/tests/support/runner-server";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { made, picture } from "./built-in-job";
import { ended, list, png, record, string, submit } from "./support";

const TURNED = "a\u202e\u2066\u061c\u200fgpj\u2069.png";
const PLAIN = "agpj.png";

let bench: ServiceBench;
let client: Client;
beforeEach(async () => {
  bench = await startService({ runnerCheckMs: 100, concurrency: 1 });
  client = bench.client();
});
afterEach(() => bench.dispose());

it("strips the names of uploads, also of those that are sent as images", async () => {
  const asset = await client.upload(png(4, 4), `${TURNED}\u0001\u009f`);
  expect(asset.body).toMatchObject({ name: PLAIN });
  const image = await client.upload(png(5, 4), TURNED, {}, "image", "/api/upload/image");
  expect(image.body).toMatchObject({ display_name: PLAIN });
  expect((await client.upload(png(6, 4), "\u202e")).body).toMatchObject({ name: "upload" });
});

it("strips the names of assets made from a hash and of renamed ones", async () => {
  const { asset_hash: hash } = record((await client.upload(png(4, 4), "a.png")).body);
  const other = bench.client("bob");
  await other.upload(png(4, 4), "b.png");
  const created = await client.post("/api/assets/from-hash", { hash, name: TURNED, tags: ["input"] });
  const asset = record(created.body);
  const edited = await client.call("PUT", `/api/assets/${string(asset.id)}`, JSON.stringify({ name: `\u202e${TURNED}` }), {
    "content-type": "application/json",
  });
  expect(edited.body).toMatchObject({ name: PLAIN });
});

it("strips the prefix of a saved image and the name in the answer's headers", async () => {
  const graph = {
    "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 1 } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x\u202ey\u0007" } },
  };
  const job = await ended(client, await submit(client, graph));
  const [image] = list(record(record(job.outputs)["2"]).images);
  expect(image).toMatchObject({ display_name: "xy_00001_.png" });
  const view = await client.raw("GET", `/api/view?filename=${string(image?.filename)}`);
  await view.arrayBuffer();
  expect(view.headers.get("content-disposition")).toBe(`inline; filename="xy_00001_.png"; filename*=UTF-8''xy_00001_.png`);
});

it("strips the names of a runner's files", async () => {
  const server = await startRunnerServer({
    objectInfo: gpuClasses(["one.safetensors"]),
    makes: (node) => (node.class_type === "SaveImage" ? { files: [{ name: TURNED, bytes: picture(1) }] } : undefined),
  });
  await bench.service.runners.add({ address: server.address, label: "GPU" });
  const job = await ended(client, await submit(client, made()));
  const [image] = list(record(record(job.outputs)["3"]).images);
  expect(image).toMatchObject({ display_name: PLAIN });
  expect(list(record((await client.get("/api/assets?include_tags=output")).body).assets)[0]).toMatchObject({ name: PLAIN });
  await server.close();
});

it("refuses such a path of a user's data file", async () => {
  const answer = await client.call("POST", `/api/userdata/${encodeURIComponent(TURNED)}`, "x", { "content-type": "text/plain" });
  expect(answer.status).toBe(400);
});

it.each([
  [`filename="${Buffer.from(TURNED).toString("latin1")}"`, `inline; filename="${PLAIN}"`],
  [`filename*=UTF-8''${encodeURIComponent(TURNED)}`, `inline; filename*=UTF-8''${PLAIN}`],
  [`filename*=UTF-8''%E6%9D%B1%28.png`, `inline; filename*=UTF-8''%E6%9D%B1%28.png`],
  [`filename*=UTF-8''%80%ff.png`, "inline"],
])("strips the name that a connected service sends with bytes: %s", (sent, expected) => {
  const answer = bytesAnswer(new Response("x", { headers: { "content-type": "image/png", "content-disposition": `attachment; ${sent}` } }));
  expect(answer.headers.get("content-disposition")).toBe(expected);
});
