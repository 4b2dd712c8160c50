// A live update client that counts events without storing them.
import { LIVE_PATH } from "@/lib/contract/live";

export type EventViewer = { counts: Map<string, number>; close(): void };

/** Resolves once the first event has arrived. */
export async function openViewer(base: string, headers: Record<string, string>, topics: readonly string[]): Promise<EventViewer> {
  const controller = new AbortController();
  const query = new URLSearchParams(topics.map((topic) => ["topic", topic]));
  const response = await fetch(`${base}${LIVE_PATH}?${query.toString()}`, { headers, signal: controller.signal });
  if (!response.ok || !response.body) throw new Error(`live updates responded with ${response.status}: ${await response.text()}`);
  const counts = new Map<string, number>();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let partialLine = "";
  const countLines = (text: string) => {
    const lines = (partialLine + text).split("\n");
    partialLine = lines.pop() ?? "";
    for (const line of lines) {
      const event = /^event: (.+)$/.exec(line)?.[1];
      if (event !== undefined) counts.set(event, (counts.get(event) ?? 0) + 1);
    }
  };
  countLines((await reader.read()).value ?? "");
  const readRemaining = async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) countLines(next.value);
  };
  void readRemaining().catch((error: unknown) => {
    if (!controller.signal.aborted) throw error;
  });
  return { counts, close: () => controller.abort() };
}
