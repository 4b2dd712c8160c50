// The memory of a whole service process while it is given an AVIF of 1 KB and 60 megapixels.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createKey, httpClient, type ServiceProcess, startServiceProcess } from "@/tests/support/service-process";
import { ended, png, record, string, submit } from "./support";

let folder = "";
let service: ServiceProcess;
let client: ReturnType<typeof httpClient>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lightdesk-memory-"));
  const key = await createKey(folder, "ada");
  service = await startServiceProcess(folder);
  client = httpClient(service.url, key);
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

async function peakBytes(): Promise<number> {
  const [, kibibytes = "0"] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${service.pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}

it("refuses to decode the image everywhere and stays small", async () => {
  const avif = new Uint8Array(await readFile("tests/fixtures/60-megapixels.avif"));
  const name = string(record((await client.upload(avif, "large.avif")).body).asset_hash);
  const load = {
    "1": { class_type: "LoadImage", inputs: { image: name } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
  };
  const before = await peakBytes();
  const view = `/api/view?filename=${name}`;
  const views = await Promise.all(["res=64", "res=1024", "channel=rgb", "channel=alpha"].map((query) => client.get(`${view}&${query}`)));
  expect(views.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
  const image = await client.upload(avif, "large.avif", {}, "image", "/api/upload/image");
  expect(image).toMatchObject({ status: 400, body: { code: "INVALID_IMAGE" } });
  const reference = { original_ref: JSON.stringify({ filename: name, type: "input" }) };
  const mask = await client.upload(png(16, 16), "mask.png", reference, "image", "/api/upload/mask");
  expect(mask.status).toBe(400);
  const job = await ended(client, await submit(client, load));
  expect(job).toMatchObject({ status: "failed", execution_error: { exception_type: "ImageDecodeError" } });
  expect((await peakBytes()) - before).toBeLessThan(150 * 1024 ** 2);
});
