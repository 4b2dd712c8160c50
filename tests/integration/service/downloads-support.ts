// Helpers for the download tests.
import { blake3 } from "@napi-rs/blake-hash";
import { type Client } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { asRecord, asString, type Json } from "./support";

export const getHash = (bytes: Uint8Array): string => `blake3:${Buffer.from(blake3(bytes)).toString("hex")}`;

/** Starts a download and returns the path of its task. */
export async function startDownload(client: Client, sourceUrl: string, fields: Json = {}): Promise<string> {
  const response = await client.post("/api/assets/download", { source_url: sourceUrl, ...fields });
  if (response.status !== 202) throw new Error(`Download rejected: ${response.status} ${response.text}`);
  return `/api/tasks/${asString(asRecord(response.body).task_id)}`;
}

export async function readTask(client: Client, path: string): Promise<Json> {
  return asRecord((await client.get(path)).body);
}

export async function waitForOutcome(client: Client, path: string): Promise<Json> {
  return until(`${path} has ended`, async () => {
    const task = await readTask(client, path);
    return task.completed_at !== undefined && task;
  });
}

export async function waitForBytes(client: Client, path: string, bytes: number): Promise<Json> {
  return until(`${path} has ${bytes} bytes`, async () => {
    const task = await readTask(client, path);
    return Number(task.bytes_downloaded) >= bytes && task;
  });
}

export async function download(client: Client, sourceUrl: string, fields: Json = {}): Promise<Json> {
  return waitForOutcome(client, await startDownload(client, sourceUrl, fields));
}

/** Fetches the bytes of the task's asset. */
export async function getContent(client: Client, task: Json): Promise<Buffer> {
  const response = await client.raw("GET", `/api/assets/${asString(asRecord(task.result).asset_id)}/content`);
  return Buffer.from(await response.arrayBuffer());
}
