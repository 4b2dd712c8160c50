// The WebSocket of a ComfyUI server (GET /ws): opened to permitted addresses only, without an Origin, which a plain server refuses.

import { lookup as systemLookup } from "node:dns";
import { type RawData, WebSocket } from "ws";
import { numberOf, objectOf, textOf } from "@/lib/contract/json/json";
import { maxExactNumbers, parseExactJson, TooManyExactNumbers } from "@/lib/contract/json/parse-json";
import { guardedLookup, isForbiddenAddress } from "@/lib/shared/guarded-connector";
import { meterJson } from "./http";

type Target = {
  baseUrl: string;
  clientId: string | undefined;
  headers?: Record<string, string>;
  handshakeMs: number;
  maxBytes: number;
};

/** Undefined for an address that is never opened. */
export function openSocket({ baseUrl, clientId, headers, handshakeMs, maxBytes }: Target): WebSocket | undefined {
  const url = new URL(`${baseUrl.replace(/\/+$/, "")}/ws`);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  if (clientId !== undefined) url.searchParams.set("clientId", clientId);
  if (isForbiddenAddress(url.hostname)) return undefined;
  return new WebSocket(url, {
    headers: { "user-agent": "lightdesk", ...headers },
    handshakeTimeout: handshakeMs,
    maxPayload: maxBytes,
    perMessageDeflate: false,
    // Messages that arrive together are handled one per event loop turn, so that other work can run in between.
    allowSynchronousEvents: false,
    lookup: guardedLookup(systemLookup),
  });
}

const codeOf = (error: Error) => ("code" in error ? error.code : undefined);
export const isTooLarge = (error: Error) => codeOf(error) === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";

export type ComfyMessage = NonNullable<ReturnType<typeof readMessage>>;

/** Undefined if it is no message. `shownNode`: the node that the screen shows in place of `node`. `states`: of progress_state, by node. */
export function readMessage(message: unknown) {
  const type = textOf(objectOf(message)?.type);
  const data = objectOf(objectOf(message)?.data);
  if (type === undefined || !data) return undefined;
  return {
    type,
    jobId: textOf(data.prompt_id),
    node: textOf(data.node),
    shownNode: textOf(data.display_node),
    isLast: type === "executing" && data.node === null,
    isEnd: /^execution_(success|error|interrupted)$/.test(type),
    nodes: Array.isArray(data.nodes) ? data.nodes.filter((id) => typeof id === "string") : [],
    states: objectOf(data.nodes),
    step: numberOf(data.value),
    steps: numberOf(data.max),
    output: data.output,
  };
}

/** A graph of a thousand fast nodes sends five thousand messages at once. */
const MAX_MESSAGES = 10_000;
const MESSAGES_PER_SECOND = 1000;
const MAX_TRAFFIC_BYTES = 128 * 1024 ** 2;
const BYTES_PER_SECOND = 16 * 1024 ** 2;

export type Traffic = ReturnType<typeof createTraffic>;

/** Rate limit for a server, over all of its connections: a burst, then a rate per second. */
export function createTraffic(nowMs: () => number = () => performance.now()) {
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

/** SaveImageWebsocket sends full-size pictures. */
const MAX_MESSAGE_BYTES = 32 * 1024 ** 2;
const TEXT_BOUNDS = { bytes: 4 * 1024 ** 2, values: 50_000 };
/** Lists every node of the job; the messages about single nodes say the same. */
const UNREAD = /^\{\s*"type"\s*:\s*"progress_state"/;
const HANDSHAKE_MS = 3000;
const AGAIN_MS = 1000;
const PREVIEW = 1;

type Handlers = {
  message: (message: ComfyMessage) => void;
  preview: (bytes: Uint8Array) => void;
  /** The server exceeds its limits; nothing more from it is read. `reason` is a sentence. */
  exceeded: (reason: string) => void;
};

/** Follows the messages for a client id, bounded before they are parsed, over one connection after the other. */
export function followMessages(server: { address: string; clientId: string; traffic: Traffic }, handlers: Handlers) {
  let isStopped = false;
  let again: NodeJS.Timeout | undefined;
  let connections = 0;
  let socket: WebSocket | undefined;
  let open: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => (open = resolve));

  function connect(): void {
    connections += 1;
    socket = openSocket({ baseUrl: server.address, clientId: server.clientId, handshakeMs: HANDSHAKE_MS, maxBytes: MAX_MESSAGE_BYTES });
    if (!socket) return open();
    socket.on("open", () => open());
    socket.on("message", receive);
    socket.on("ping", (bytes) => isWithinLimits(bytes.length));
    socket.on("pong", (bytes) => isWithinLimits(bytes.length));
    socket.on("error", (error) => {
      open();
      if (isTooLarge(error)) exceed(`a message of more than ${MAX_MESSAGE_BYTES / 1024 ** 2} MB`);
      if (codeOf(error) === "HPE_HEADER_OVERFLOW") exceed("headers that are too long");
    });
    socket.on("close", () => {
      open();
      // A job without news would be taken for one that hangs.
      if (!isStopped) again = setTimeout(connect, AGAIN_MS).unref();
    });
  }

  function stop(): void {
    isStopped = true;
    clearTimeout(again);
    socket?.terminate();
  }

  function exceed(what: string): void {
    if (isStopped) return;
    stop();
    handlers.exceeded(`It sends ${what}.`);
  }

  function isWithinLimits(bytes: number): boolean {
    if (isStopped) return false;
    const excess = server.traffic.add(bytes);
    if (excess !== undefined) exceed(excess);
    return excess === undefined;
  }

  function receive(bytes: RawData, isBinary: boolean): void {
    if (!Buffer.isBuffer(bytes) || !isWithinLimits(bytes.length)) return;
    if (isBinary) {
      if (bytes.length > 8 && bytes.readUInt32BE(0) === PREVIEW) handlers.preview(bytes);
      return;
    }
    const text = meterJson(bytes, TEXT_BOUNDS);
    if (!text.ok) return exceed(`a message with ${text.failure}`);
    try {
      const message = UNREAD.test(text.value) ? undefined : readMessage(parseExactJson(text.value, { most: maxExactNumbers.text }));
      if (message) handlers.message(message);
    } catch (error) {
      if (error instanceof TooManyExactNumbers) exceed(`a message with ${error.excess}`);
      // Anything but JSON is ignored.
      else if (!(error instanceof SyntaxError)) throw error;
    }
  }

  connect();
  return {
    /** Resolves once the connection is open, or cannot be opened. */
    ready,
    /** The number of the connection that is open now, since one follows another; undefined: none. A restarted server has another one. */
    connection: () => (socket?.readyState === WebSocket.OPEN ? connections : undefined),
    stop,
  };
}
