// Helpers for the service tests: graphs, job polling and access to untyped responses.
import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { type Client } from "@/tests/support/service";
import { until } from "@/tests/support/until";

export type Json = Record<string, unknown>;

export function asRecord(value: unknown): Json {
  if (typeof value !== "object" || value === null) throw new Error(`Expected an object, got ${JSON.stringify(value)}.`);
  return { ...value };
}
export const asRecords = (value: unknown): Json[] => (Array.isArray(value) ? value.map(asRecord) : []);
export const asString = (value: unknown): string => (typeof value === "string" ? value : "");

export function loadSampleGraph(name: string): Json {
  return asRecord(JSON.parse(readFileSync(join("public", "samples", `${name}.json`), "utf8")));
}

/** Creates a graph that saves one image of a single color. */
export function createColorGraph(color = 255, size = 8): Json {
  return {
    "1": { class_type: "EmptyImage", inputs: { width: size, height: size, batch_size: 1, color } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "plain" } },
  };
}

export function createWaitGraph(seconds: number, color = 1): Json {
  return {
    "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color } },
    "2": { class_type: "Wait", inputs: { seconds, anything: ["1", 0] } },
    "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "waited" } },
  };
}

/** Creates a graph that loads an image and saves it. */
export function createLoadGraph(image: string, prefix = "x"): Json {
  return {
    "1": { class_type: "LoadImage", inputs: { image } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: prefix } },
  };
}

export const silentLog = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Creates a promise that `open` resolves. */
export function createGate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

export async function countFiles(folder: string): Promise<number> {
  return (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).length;
}

export async function getRecord(client: Client, path: string): Promise<Json> {
  return asRecord((await client.get(path)).body);
}

/** Lists the user's own assets by default. */
export async function listAssets(client: Client, query = "include_public=false"): Promise<Json[]> {
  return asRecords((await getRecord(client, `/api/assets?${query}`)).assets);
}

export async function listJobs(client: Client, query = ""): Promise<Json[]> {
  return asRecords((await getRecord(client, `/api/jobs?${query}`)).jobs);
}

export async function fetchBytes(client: Client, path: string): Promise<Buffer> {
  return Buffer.from(await (await client.raw("GET", path)).arrayBuffer());
}

/** Uploads an image for LoadImage and returns its name. */
export async function uploadImage(client: Client, bytes: Uint8Array<ArrayBuffer>, name: string): Promise<string> {
  return asString(asRecord((await client.upload(bytes, name, {}, "image", "/api/upload/image")).body).name);
}

export async function submitGraph(client: Client, prompt: Json, fields: Json = {}): Promise<string> {
  const response = await client.post("/api/prompt", { prompt, ...fields });
  if (response.status !== 200) throw new Error(`Submission rejected: ${response.text}`);
  return asString(asRecord(response.body).prompt_id);
}

export async function readJob(client: Client, id: string): Promise<Json> {
  return asRecord((await client.get(`/api/jobs/${id}`)).body);
}

export async function waitForEnd(client: Client, id: string, timeoutMs = 20_000): Promise<Json> {
  return until(
    `job ${id} has ended`,
    async () => {
      const job = await readJob(client, id);
      return ["completed", "failed", "cancelled"].includes(asString(job.status)) && job;
    },
    { timeoutMs },
  );
}

/** Submits a graph and waits until its job has ended. */
export async function runGraph(client: Client, prompt: Json, fields: Json = {}): Promise<Json> {
  return waitForEnd(client, await submitGraph(client, prompt, fields));
}

export async function waitForStart(client: Client, id: string): Promise<Json> {
  return until(`job ${id} runs`, async () => {
    const job = await readJob(client, id);
    return job.status === "in_progress" && job;
  });
}

/** Creates a PNG with one gray level per row, or only its header if `pixels` is false. */
export function createPng(width: number, height: number, { seed = 0, pixels = true } = {}): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const rows = pixels
    ? Buffer.concat(Array.from({ length: height }, (_, y) => Buffer.alloc(width + 1, (y * 7 + seed) % 256).fill(0, 0, 1)))
    : Buffer.alloc(1);
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return new Uint8Array(
    Buffer.concat([signature, createChunk("IHDR", header), createChunk("IDAT", deflateSync(rows)), createChunk("IEND", Buffer.alloc(0))]),
  );
}

function createChunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
