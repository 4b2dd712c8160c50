// Reads GET /api/console/events of a harness, as a browser does.
import { isLiveEvent, type LiveEvent, type LiveEvents } from "@/lib/contract/live";
import { type Harness, type HarnessRequest } from "./harness";
import { until } from "./until";

export type ReceivedEvent = LiveEvent & { id: string | undefined };
export type LiveStream = Awaited<ReturnType<typeof openLiveStream>>;

export function createLivePath(topics: readonly string[], extra: Record<string, string> = {}): string {
  const query = new URLSearchParams(extra);
  for (const topic of topics) query.append("topic", topic);
  return `/api/console/events?${query.toString()}`;
}

export async function openLiveStream(harness: Pick<Harness, "request">, path: string, options: HarnessRequest = { as: "viewer" }) {
  const controller = new AbortController();
  const response = await harness.request(path, { ...options, signal: controller.signal });
  if (!response.ok || !response.body) throw new Error(`${response.status} ${await response.text()}`);
  const received: ReceivedEvent[] = [];
  const state = { isOver: false, lastId: "" };
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();

  async function read(): Promise<void> {
    let text = "";
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const parts = (text + next.value).split("\n\n");
      text = parts.pop() ?? "";
      received.push(...parts.map(parseEvent));
    }
  }
  const parseEvent = (part: string): ReceivedEvent => {
    const readField = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(part)?.[1];
    const item = { event: readField("event") ?? "", data: JSON.parse(readField("data") ?? "null") as unknown };
    const id = readField("id");
    state.lastId = id ?? state.lastId;
    if (!isLiveEvent(item)) throw new Error(`not an event: ${part}`);
    return { ...item, id };
  };
  const ended = read()
    .catch(() => undefined)
    .then(() => void (state.isOver = true));

  return {
    response,
    received,
    state,
    ended,
    getData: <E extends keyof LiveEvents>(event: E, topic?: string): LiveEvents[E][] =>
      received.flatMap((item) =>
        item.event === event && (topic === undefined || getTopic(item) === topic) ? [item.data as LiveEvents[E]] : [],
      ),
    waitFor: (label: string, matches: (item: ReceivedEvent) => boolean) => until(label, () => received.find(matches)),
    async close(): Promise<void> {
      await reader.cancel();
      controller.abort();
    },
  };
}

function getTopic({ data }: LiveEvent): unknown {
  return "topic" in data ? data.topic : undefined;
}
