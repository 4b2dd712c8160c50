import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { canvas, detail, ended, list, png, record, running, sample, string, submit, waiting } from "./support";

describe("POST /api/prompt", () => {
  let bench: ServiceBench;
  let client: Client;
  beforeAll(async () => {
    bench = await startService();
    client = bench.client();
  });
  afterAll(() => bench.dispose());

  it("answers with the job's id, a number that counts up, and no node errors", async () => {
    const first = await client.post("/api/prompt", { prompt: canvas(1), number: -5, front: true });
    const second = await client.post("/api/prompt", { prompt: canvas(2) });
    expect(first.status).toBe(200);
    expect(record(first.body).node_errors).toEqual({});
    expect(record(second.body).number).toBe(Number(record(first.body).number) + 1);
    expect(string(record(first.body).prompt_id)).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    ["01-invert", 1],
    ["02-poster-from-photo", 1],
    ["03-composite-with-mask", 2],
    ["04-four-variants", 4],
  ])("runs sample %s to completion with %i pictures, each an asset of the job", async (name, pictures) => {
    const id = await submit(client, sample(name));
    const job = await ended(client, id, 60_000);
    expect(job).toMatchObject({ status: "completed", outputs_count: pictures });
    expect(record(job.execution_status)).toMatchObject({ status_str: "success", completed: true });
    const preview = record(job.preview_output);
    expect(preview).toMatchObject({ type: "output", mediaType: "images", subfolder: "" });
    const assets = list(record((await client.get(`/api/jobs/${id}/assets`)).body).assets);
    expect(assets).toHaveLength(pictures);
    for (const asset of assets)
      expect(asset).toMatchObject({
        prompt_id: id,
        user_metadata: { width: expect.any(Number), height: expect.any(Number), node_id: expect.any(String) },
      });
    const bytes = await client.raw("GET", `/api/view?filename=${string(preview.filename)}&type=output`);
    expect(bytes.headers.get("content-type")).toBe("image/png");
    expect((await bytes.arrayBuffer()).byteLength).toBeGreaterThan(100);
  });

  it("tells of progress while a job runs, and of every node's time when it has ended", async () => {
    const id = await submit(client, waiting(0.6));
    const job = await running(client, id);
    expect(record(job.progress)).toMatchObject({ nodes_total: 3, value: expect.any(Number) });
    const done = await ended(client, id);
    const meta = record(record(done.execution_meta)["2"]);
    expect(meta).toMatchObject({ node_id: "2", display_node: "2", parent_node: null, real_node_id: "2", cached: false });
    expect(Number(meta.end_time) - Number(meta.start_time)).toBeGreaterThanOrEqual(590);
    expect(done.progress).toBeUndefined();
  });

  it("keeps what finished nodes put out when a later one fails, and says which node it was", async () => {
    const id = await submit(client, sample("06-fails-half-way"));
    const job = await ended(client, id);
    expect(job.status).toBe("failed");
    expect(job.execution_error).toMatchObject({
      node_id: "4",
      node_type: "Fail",
      exception_message: expect.stringContaining("ran out of memory"),
    });
    expect(Object.keys(record(job.outputs))).toEqual(["2"]);
    const meta = record(record(job.execution_meta)["4"]);
    expect(meta).toMatchObject({ node_id: "4", real_node_id: "4", cached: false, end_time: expect.any(Number) });
    expect(Number(meta.end_time) - Number(meta.start_time)).toBeGreaterThanOrEqual(0);
    expect(record((await client.get(`/api/job/${id}/status`)).body)).toMatchObject({
      status: "error",
      error_message: expect.stringContaining("ran out of memory"),
    });
  });

  it("uses a picture that was uploaded for a LoadImage node, and pins it at acceptance", async () => {
    const uploaded = await client.upload(png(40, 30), "mine.png", { type: "input" }, "image", "/api/upload/image");
    const graph = {
      "1": { class_type: "LoadImage", inputs: { image: string(record(uploaded.body).name) } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
    };
    const job = await ended(client, await submit(client, graph));
    expect(job.status).toBe("completed");
    const byName = await submit(client, { ...graph, "1": { class_type: "LoadImage", inputs: { image: "mine.png" } } });
    const [asset] = list(record((await client.get("/api/assets?name_contains=mine.png&include_public=false")).body).assets);
    await client.call("DELETE", `/api/assets/${string(asset?.id)}`);
    expect((await ended(client, byName)).status).toBe("completed");
  });

  it("takes a file by its name behind folders of up to 2,000 bytes in all, and finds none by a longer one", async () => {
    await client.upload(png(8, 8), "far.png", { type: "input" }, "image", "/api/upload/image");
    // Random, because repeated text takes little room in an index.
    const letter = () => String.fromCodePoint(0x4e00 + Math.floor(Math.random() * 20_000));
    const named = (bytes: number) => {
      const rest = bytes - "/far.png".length;
      return `${Array.from({ length: Math.floor(rest / 3) }, letter).join("")}${"x".repeat(rest % 3)}/far.png`;
    };
    const graph = (image: string) => ({
      "1": { class_type: "LoadImage", inputs: { image } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "far" } },
    });
    expect((await ended(client, await submit(client, graph(named(2000))))).status).toBe("completed");
    for (const bytes of [2001, 8000]) {
      const refused = await client.post("/api/prompt", { prompt: graph(named(bytes)) });
      expect([refused.status, record(refused.body).node_errors]).toMatchObject([400, { "1": { class_type: "LoadImage" } }]);
    }
  });

  it("offers and takes for LoadImage only what upload/image takes, whatever a file is called", async () => {
    const names = ["drawn.svg", "drawn.png", "notes.txt", "old.bmp"];
    const svg = "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>";
    const bmp = new Uint8Array(100).fill(0);
    bmp.set([0x42, 0x4d, 100, 0, 0, 0]);
    const files = [svg, `${svg} `, "plain words", bmp];
    const hashes = [];
    for (const [index, file] of files.entries())
      hashes.push(string(record((await client.upload(file, names[index] ?? "", { tags: "input" })).body).asset_hash));
    await client.upload(png(9, 9), "offered.png", { tags: "input" });
    const specs = record(record(record(record((await client.get("/api/object_info")).body).LoadImage).input).required).image;
    const choices: unknown = Array.isArray(specs) ? specs[0] : undefined;
    expect(choices).toContain("offered.png");
    for (const name of names) expect(choices).not.toContain(name);
    for (const image of [...names, ...hashes])
      for (const class_type of ["LoadImage", "LoadImageMask"]) {
        const inputs = { image, ...(class_type === "LoadImageMask" && { channel: "red" }) };
        const refused = await client.post("/api/prompt", {
          prompt: {
            "1": { class_type, inputs },
            "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
          },
        });
        expect(refused, image).toMatchObject({
          status: 400,
          body: {
            node_errors: {
              "1": { errors: [{ type: "custom_validation_failed", details: expect.stringContaining("Invalid image file") }] },
            },
          },
        });
      }
  });

  it("never gives back a partner's key, from any view or file", async () => {
    const secret = "comfyui-0123456789abcdef";
    const id = await submit(client, canvas(77), {
      extra_data: { api_key_comfy_org: secret, extra_pnginfo: { workflow: { nodes: [], api_key_comfy_org: secret } } },
    });
    const job = await ended(client, id);
    const views = [`/api/jobs/${id}`, "/api/jobs", "/api/history_v2?max_items=50", `/api/history_v2/${id}`, "/api/queue"];
    for (const path of views) expect((await client.get(path)).text).not.toContain(secret);
    const file = await client.raw("GET", `/api/view?filename=${string(record(job.preview_output).filename)}`);
    const bytes = Buffer.from(await file.arrayBuffer()).toString("latin1");
    expect(bytes).toContain("workflow");
    expect(bytes).not.toContain(secret);
  });

  it("keeps runs of one graph together under one workflow_id, whatever their literals", async () => {
    const [one, two] = [await submit(client, canvas(3)), await submit(client, canvas(4))];
    const named = await submit(client, canvas(5), {
      extra_data: { extra_pnginfo: { workflow: { id: "1f3b7f7c-55a0-4f0a-8e53-7a2c0d9c4e22" } } },
    });
    const id = (await detail(client, one)).workflow_id;
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5/);
    expect((await detail(client, two)).workflow_id).toBe(id);
    expect((await detail(client, named)).workflow_id).toBe("1f3b7f7c-55a0-4f0a-8e53-7a2c0d9c4e22");
  });

  it("answers from the cache what was computed before, as new assets of the new job", async () => {
    const [first, second] = [
      await ended(client, await submit(client, canvas(4711))),
      await ended(client, await submit(client, canvas(4711))),
    ];
    expect(second).toMatchObject({
      status: "completed",
      outputs_count: 1,
      execution_meta: { "1": { cached: true }, "2": { cached: true } },
    });
    expect(JSON.stringify(second.execution_status)).toContain('["execution_cached",{"nodes":["1","2"]');
    const assetsOf = async (job: typeof first) => list(record((await client.get(`/api/jobs/${string(job.id)}/assets`)).body).assets);
    const [before, after] = [await assetsOf(first), await assetsOf(second)];
    expect(after.map((asset) => asset.asset_hash)).toEqual(before.map((asset) => asset.asset_hash));
    expect(after[0]?.id).not.toBe(before[0]?.id);
  });

  it("fails a job that would hold too many pixels, and goes on", async () => {
    const small = await startService({ maxJobPixels: 100 * 100 });
    try {
      const user = small.client();
      expect(await ended(user, await submit(user, canvas(1, 200)))).toMatchObject({
        status: "failed",
        execution_error: { exception_type: "OOMError" },
      });
      expect(await ended(user, await submit(user, canvas(1, 50)))).toMatchObject({ status: "completed" });
    } finally {
      await small.dispose();
    }
  });

  it("gives two users their turns, and each user's jobs theirs: the second does not wait for all of the first's", async () => {
    const single = await startService({ concurrency: 1 });
    try {
      const [ada, bob] = [single.client("ada"), single.client("bob")];
      const many = [];
      for (let n = 0; n < 6; n += 1) many.push(await submit(ada, waiting(0.15, n)));
      const other = await submit(bob, waiting(0.15, 99));
      await ended(bob, other);
      const states = await Promise.all(many.map(async (id) => string((await detail(ada, id)).status)));
      expect(states.filter((state) => state === "pending").length).toBeGreaterThanOrEqual(2);
      // Short jobs end while the queue searches for the next one.
      for (let n = 0; n < 40; n += 1) many.push(await submit(ada, waiting(0, 100 + n)));
      for (const id of many) await ended(ada, id);
      const starts = await Promise.all(many.map(async (id) => Number((await detail(ada, id)).execution_start_time)));
      expect(starts).toEqual([...starts].sort((a, b) => a - b));
    } finally {
      await single.dispose();
    }
  });
});
