// HTTP helpers for every measurement of the service: a JSON call, a bounded wait, many calls over few connections.
import { rmSync } from "node:fs";
import { newFolder, type PortService, post, startService } from "../processes";

export type Graph = Record<string, { class_type: string; inputs: Record<string, unknown> }>;

/** A service on its own folder, which is removed afterwards however the work ends. */
export async function withService<T>(settings: Record<string, string>, work: (service: PortService, folder: string) => Promise<T>) {
  const folder = newFolder();
  const service = await startService(folder, settings);
  try {
    return await work(service, folder);
  } finally {
    await service.process.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function get<T>(service: PortService, path: string): Promise<T> {
  const answer = await fetch(service.url + path, { headers: service.headers });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T; // the caller names the type it asked for
}

export async function submit(service: PortService, prompt: Graph): Promise<string> {
  const { prompt_id: id } = await post<{ prompt_id: string }>(`${service.url}/api/prompt`, { prompt }, service.headers);
  return id;
}

export async function queueDepth(service: PortService): Promise<number> {
  return (await get<{ exec_info: { queue_remaining: number } }>(service, "/api/prompt")).exec_info.queue_remaining;
}

/** Polls until the queue is empty. */
export async function drained(service: PortService, everyMs = 20): Promise<void> {
  for (const until = Date.now() + 120_000; Date.now() < until;) {
    if ((await queueDepth(service)) === 0) return;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new Error("the queue did not drain in two minutes");
}

/** Runs `work` for each of `items`, `most` at a time. */
export async function eachOf<T>(items: readonly T[], most: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: most }, async () => {
      for (const item of left) await work(item);
    }),
  );
}
