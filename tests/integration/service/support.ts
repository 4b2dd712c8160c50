// Helpers of the service's suites: graphs, waiting for a job, and reading fields of untyped responses.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { type Client } from "@/tests/support/service";
import { until } from "@/tests/support/until";

export type Json = Record<string, unknown>;

export function asRecord(value: unknown): Json {
  if (typeof value !== "object" || value === null) throw new Error(`no object: ${JSON.stringify(value)}`);
  return { ...value };
}
export const asRecords = (value: unknown): Json[] => (Array.isArray(value) ? value.map(asRecord) : []);
export const asString = (value: unknown): string => (typeof value === "string" ? value : "");

export function sample(name: string): Json {
  return asRecord(JSON.parse(readFileSync(join("public", "samples", `${name}.json`), "utf8")));
}

/** One picture of a single colour. */
export function canvas(color = 255, size = 8): Json {
  return {
    "1": { class_type: "EmptyImage", inputs: { width: size, height: size, batch_size: 1, color } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "plain" } },
  };
}

export function waitGraph(seconds: number, color = 1): Json {
  return {
    "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color } },
    "2": { class_type: "Wait", inputs: { seconds, anything: ["1", 0] } },
    "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "waited" } },
  };
}

export async function submit(client: Client, prompt: Json, rest: Json = {}): Promise<string> {
  const response = await client.post("/api/prompt", { prompt, ...rest });
  if (response.status !== 200) throw new Error(`refused: ${response.text}`);
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

export async function waitForStart(client: Client, id: string): Promise<Json> {
  return until(`job ${id} runs`, async () => {
    const job = await readJob(client, id);
    return job.status === "in_progress" && job;
  });
}

/** A valid PNG of any size, one grey level a row; only a header if `pixels` is false. */
export function png(width: number, height: number, { seed = 0, pixels = true } = {}): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const rows = pixels
    ? Buffer.concat(Array.from({ length: height }, (_, y) => Buffer.alloc(width + 1, (y * 7 + seed) % 256).fill(0, 0, 1)))
    : Buffer.alloc(1);
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return new Uint8Array(
    Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]),
  );
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
