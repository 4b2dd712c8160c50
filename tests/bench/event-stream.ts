// A viewer of the console's live updates that counts events and keeps none.
import { LIVE_PATH } from "@/lib/contract/live";

export type Viewer = { counts: Map<string, number>; close(): void };

/** Resolves once the first event has arrived. */
export async function openViewer(base: string, headers: Record<string, string>, topics: readonly string[]): Promise<Viewer> {
  const controller = new AbortController();
  const query = new URLSearchParams(topics.map((topic) => ["topic", topic]));
  const response = await fetch(`${base}${LIVE_PATH}?${query.toString()}`, { headers, signal: controller.signal });
  if (!response.ok || !response.body) throw new Error(`live updates answered ${response.status}: ${await response.text()}`);
  const counts = new Map<string, number>();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  const take = (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = /^event: (.+)$/.exec(line)?.[1];
      if (event !== undefined) counts.set(event, (counts.get(event) ?? 0) + 1);
    }
  };
  take((await reader.read()).value ?? "");
  const readOn = async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) take(next.value);
  };
  void readOn().catch((error: unknown) => {
    if (!controller.signal.aborted) throw error;
  });
  return { counts, close: () => controller.abort() };
}
