// Limits for a runner's messages and responses. JSON is measured before it is parsed: bytes, number of values and depth. Parsing a few
// megabytes of tiny values would block the event loop for seconds; counting them takes milliseconds, chunk by chunk.

import { failed, ok, type Result } from "@/lib/shared/result";

/** `keepDepth`: objects and lists below this level are read as null, and count only toward `bytes`. */
export type JsonBounds = { bytes: number; values: number; keepDepth?: number };

/** A graph nests about ten levels. */
const MAX_DEPTH = 200;

const NULL = Buffer.from("null");
const [QUOTE, COMMA, BACKSLASH] = [34, 44, 92];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

export function createJsonMeter({ bytes: maxBytes, values: maxValues, keepDepth = Infinity }: JsonBounds) {
  const parts: Uint8Array[] = [];
  let [bytes, values, depth] = [0, 0, 0];
  let isInString = false;
  let isEscaped = false;

  /** Returns the exceeded limit, as the end of a sentence. Undefined if there is none. */
  function push(chunk: Uint8Array): string | undefined {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return `more than ${Math.round(maxBytes / 1024 ** 2)} MB`;
    let from = depth > keepDepth ? -1 : 0;
    for (let at = 0; at < chunk.byteLength; at += 1) {
      const code = chunk[at];
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (code === BACKSLASH) isEscaped = true;
        else if (code === QUOTE) isInString = false;
      } else if (code === QUOTE) isInString = true;
      else if (code === COMMA) {
        if (depth <= keepDepth) values += 1;
        if (values > maxValues) return `more than ${maxValues} values`;
      } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
        depth += 1;
        if (depth > MAX_DEPTH) return `more than ${MAX_DEPTH} levels`;
        if (depth <= keepDepth) values += 1;
        else if (depth === keepDepth + 1) {
          parts.push(chunk.subarray(from, at), NULL);
          from = -1;
        }
      } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
        depth -= 1;
        if (depth === keepDepth) from = at + 1;
      }
    }
    if (values > maxValues) return `more than ${maxValues} values`;
    if (from >= 0) parts.push(chunk.subarray(from));
    return undefined;
  }

  return { push, text: () => Buffer.concat(parts).toString("utf8") };
}

/** For a whole message. */
export function meterJson(text: Uint8Array, bounds: JsonBounds): Result<string, string> {
  const meter = createJsonMeter(bounds);
  const excess = meter.push(text);
  return excess === undefined ? ok(meter.text()) : failed(excess);
}

/** A graph of a thousand fast nodes sends five thousand messages at once. */
const MAX_MESSAGES = 10_000;
const MESSAGES_PER_SECOND = 1000;
const MAX_TRAFFIC_BYTES = 128 * 1024 ** 2;
const BYTES_PER_SECOND = 16 * 1024 ** 2;

export type RunnerTraffic = ReturnType<typeof createRunnerTraffic>;

/** Rate limit for a runner, over all of its connections: a burst, then a rate per second. */
export function createRunnerTraffic(nowMs: () => number = () => performance.now()) {
  let [messages, bytes, countedMs] = [0, 0, nowMs()];
  return {
    /** Returns the exceeded limit, as the end of a sentence. Undefined if there is none. */
    add(messageBytes: number): string | undefined {
      const at = nowMs();
      const seconds = (at - countedMs) / 1000;
      countedMs = at;
      messages = Math.max(0, messages - seconds * MESSAGES_PER_SECOND) + 1;
      bytes = Math.max(0, bytes - seconds * BYTES_PER_SECOND) + messageBytes;
      if (messages > MAX_MESSAGES) return `more than ${MESSAGES_PER_SECOND} messages per second`;
      return bytes > MAX_TRAFFIC_BYTES ? `more than ${BYTES_PER_SECOND / 1024 ** 2} MB per second` : undefined;
    },
  };
}
