// HTTP helpers for service measurements.
import { rmSync } from "node:fs";
import { createTempFolder, post, type ServiceProcess, startService } from "../processes";

export type Graph = Record<string, { class_type: string; inputs: Record<string, unknown> }>;

/** Runs `work` with a service on a temporary folder. Always stops the service and removes the folder. */
export async function withService<T>(settings: Record<string, string>, work: (service: ServiceProcess, folder: string) => Promise<T>) {
  const folder = createTempFolder();
  const service = await startService(folder, settings);
  try {
    return await work(service, folder);
  } finally {
    await service.process.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function getJson<T>(service: ServiceProcess, path: string): Promise<T> {
  const response = await fetch(service.url + path, { headers: service.headers });
  if (!response.ok) throw new Error(`${path} responded with ${response.status}: ${await response.text()}`);
  return (await response.json()) as T; // the caller names the type of the response
}

export async function submitGraph(service: ServiceProcess, prompt: Graph): Promise<string> {
  const { prompt_id: id } = await post<{ prompt_id: string }>(`${service.url}/api/prompt`, { prompt }, service.headers);
  return id;
}

export async function getQueueDepth(service: ServiceProcess): Promise<number> {
  return (await getJson<{ exec_info: { queue_remaining: number } }>(service, "/api/prompt")).exec_info.queue_remaining;
}

/** Polls until the queue is empty. */
export async function waitForEmptyQueue(service: ServiceProcess, intervalMs = 20): Promise<void> {
  for (const deadline = Date.now() + 120_000; Date.now() < deadline;) {
    if ((await getQueueDepth(service)) === 0) return;
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
  throw new Error("the queue was not empty after two minutes");
}

/** Runs `work` for each of `items`, `concurrency` at a time. */
export async function forEachConcurrently<T>(items: readonly T[], concurrency: number, work: (item: T) => Promise<void>): Promise<void> {
  const remaining = items.values();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const item of remaining) await work(item);
    }),
  );
}
