// Attacks on the service by a client with a key.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FileSource, patternOf, startFileSource } from "@/tests/support/file-source";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { outcome } from "./downloads-support";
import { record, string } from "./support";

describe("the service", () => {
  let bench: ServiceBench;
  let client: Client;
  let source: FileSource;
  beforeAll(async () => {
    source = await startFileSource(patternOf(200_000));
    bench = await startService({ downloadHosts: [source.url], downloadsAtOnce: 4, maxJobPixels: 1000 });
    client = bench.client();
  });
  afterAll(async () => {
    expect(bench.complaints).toEqual([]);
    await bench.dispose();
    await source.close();
  });

  it("answers one of ten deletes at once with 204, and the others with 404", async () => {
    const asset = string(record((await client.upload("to be deleted", "a.txt")).body).id);
    await client.call("POST", "/api/userdata/gone.txt?overwrite=true", "x");
    for (const path of [`/api/assets/${asset}`, "/api/userdata/gone.txt"]) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => client.call("DELETE", path)));
      expect([path, answers.map(({ status }) => status).sort()]).toEqual([path, [204, ...Array.from({ length: 9 }, () => 404)]]);
    }
  });

  it("fetches an address once for all who ask for it at once, and each gets the file with its own tags", async () => {
    const url = `${source.url}/files/once/model.bin`;
    const asked = await Promise.all(
      Array.from({ length: 6 }, (_, index) => client.post("/api/assets/download", { source_url: url, tags: [`t${index}`] })),
    );
    const tasks = await Promise.all(asked.map(({ body }) => outcome(client, `/api/tasks/${string(record(body).task_id)}`)));
    expect(tasks.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => "completed"));
    expect(source.given).toHaveLength(1);
    const ids = new Set(tasks.map(({ result }) => string(record(result).asset_id)));
    const tags = await Promise.all([...ids].map(async (id) => record((await client.get(`/api/assets/${id}`)).body).tags));
    expect(tags.flat().sort()).toEqual(["t0", "t1", "t2", "t3", "t4", "t5"]);
  });

  it("refuses half of a surrogate pair in a tag and in a name", async () => {
    const asset = string(record((await client.upload("named", "n.txt")).body).id);
    const send = (path: string, method: string, json: string) => client.call(method, path, json, { "content-type": "application/json" });
    expect((await send(`/api/assets/${asset}/tags`, "POST", '{"tags":["a\\ud800"]}')).status).toBe(400);
    expect((await send(`/api/assets/${asset}`, "PUT", '{"name":"a\\udc00"}')).status).toBe(400);
    expect((await send(`/api/assets/${asset}/tags`, "POST", '{"tags":["\\ud83d\\ude00"]}')).status).toBe(200);
  });

  it("fails a job beyond its pixels in words, and no log says that a worker was lost", async () => {
    const inputs = { width: 64, height: 64, batch_size: 1, color: 0 };
    const prompt = {
      "1": { class_type: "EmptyImage", inputs },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
    };
    const { body } = await client.post("/api/prompt", { prompt });
    const path = `/api/jobs/${string(record(body).prompt_id)}`;
    const job = await until("it has failed", async () => {
      const { body: now } = await client.get(path);
      return record(now).status === "failed" && now;
    });
    expect(JSON.stringify(job)).toContain("OOMError");
    expect(bench.complaints).toEqual([]);
  });
});

it("a database that was taken away is not taken for a new one while files of users lie beside it", async () => {
  const first = await startService();
  await first.client().upload("must stay", "a.txt");
  await first.service.stop();
  for (const end of ["", "-wal", "-shm"]) await rm(join(first.folder, `service.sqlite${end}`), { force: true });
  await expect(startService({ dataDir: first.folder })).rejects.toThrow(/service\.sqlite is empty or missing/);
  await rm(first.folder, { recursive: true });
});
