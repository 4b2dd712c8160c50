// The WebSocket of a ComfyUI server (GET /ws). Connects to allowed addresses only, and sends no Origin, which a plain server rejects.

import { lookup as systemLookup } from "node:dns";
import { type RawData, WebSocket } from "ws";
import { asNumber, asObject, asText } from "@/lib/contract/json/json";
import { maxExactNumbers, parseExactJson, TooManyExactNumbersError } from "@/lib/contract/json/parse-json";
import { createGuardedLookup, isForbiddenAddress } from "@/lib/shared/guarded-connector";
import { meterJson } from "./http";

type SocketOptions = {
  baseUrl: string;
  clientId: string | undefined;
  headers?: Record<string, string>;
  handshakeTimeoutMs: number;
  maxBytes: number;
};

export function openSocket({ baseUrl, clientId, headers, handshakeTimeoutMs, maxBytes }: SocketOptions): WebSocket | undefined {
  const url = new URL(`${baseUrl.replace(/\/+$/, "")}/ws`);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  if (clientId !== undefined) url.searchParams.set("clientId", clientId);
  if (isForbiddenAddress(url.hostname)) return undefined;
  return new WebSocket(url, {
    headers: { "user-agent": "lightdesk", ...headers },
    handshakeTimeout: handshakeTimeoutMs,
    maxPayload: maxBytes,
    perMessageDeflate: false,
    // Handles one message per event loop turn, so that other work can run in between.
    allowSynchronousEvents: false,
    lookup: createGuardedLookup(systemLookup),
  });
}

const getCode = (error: Error) => ("code" in error ? error.code : undefined);
export const isTooLarge = (error: Error) => getCode(error) === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";

export type ComfyMessage = NonNullable<ReturnType<typeof parseMessage>>;

/** Returns undefined for invalid messages. `displayNode` is shown instead of `node`. `states` are the node states of progress_state. */
export function parseMessage(message: unknown) {
  const type = asText(asObject(message)?.type);
  const data = asObject(asObject(message)?.data);
  if (type === undefined || !data) return undefined;
  return {
    type,
    jobId: asText(data.prompt_id),
    node: asText(data.node),
    displayNode: asText(data.display_node),
    isLast: type === "executing" && data.node === null,
    isEnd: /^execution_(success|error|interrupted)$/.test(type),
    nodes: Array.isArray(data.nodes) ? data.nodes.filter((id) => typeof id === "string") : [],
    states: asObject(data.nodes),
    step: asNumber(data.value),
    steps: asNumber(data.max),
    output: data.output,
  };
}

/** A graph of a thousand fast nodes sends a burst of five thousand messages. */
const MAX_MESSAGES = 10_000;
const MESSAGES_PER_SECOND = 1000;
const MAX_TRAFFIC_BYTES = 128 * 1024 ** 2;
const BYTES_PER_SECOND = 16 * 1024 ** 2;

export type Traffic = ReturnType<typeof createTraffic>;

/** Rate limit for a server across all its connections: a burst, then a rate per second. */
export function createTraffic(nowMs: () => number = () => performance.now()) {
  let [messages, bytes, lastCountMs] = [0, 0, nowMs()];
  return {
    add(messageBytes: number): string | undefined {
      const currentMs = nowMs();
      const seconds = (currentMs - lastCountMs) / 1000;
      lastCountMs = currentMs;
      messages = Math.max(0, messages - seconds * MESSAGES_PER_SECOND) + 1;
      bytes = Math.max(0, bytes - seconds * BYTES_PER_SECOND) + messageBytes;
      if (messages > MAX_MESSAGES) return `more than ${MESSAGES_PER_SECOND} messages per second`;
      return bytes > MAX_TRAFFIC_BYTES ? `more than ${BYTES_PER_SECOND / 1024 ** 2} MB per second` : undefined;
    },
  };
}

/** SaveImageWebsocket sends full-size images. */
const MAX_MESSAGE_BYTES = 32 * 1024 ** 2;
const TEXT_BOUNDS = { bytes: 4 * 1024 ** 2, values: 50_000 };
/** progress_state contains every node of the job. The messages about single nodes have the same data. */
const IGNORED_MESSAGE = /^\{\s*"type"\s*:\s*"progress_state"/;
const HANDSHAKE_TIMEOUT_MS = 3000;
const RECONNECT_DELAY_MS = 1000;
const PREVIEW_EVENT = 1;

type Handlers = {
  onMessage: (message: ComfyMessage) => void;
  onPreview: (bytes: Uint8Array) => void;
  onLimitExceeded: (reason: string) => void;
};

export function subscribeToMessages(server: { address: string; clientId: string; traffic: Traffic }, handlers: Handlers) {
  let isStopped = false;
  let reconnectTimer: NodeJS.Timeout | undefined;
  let connectionCount = 0;
  let socket: WebSocket | undefined;
  let resolveReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => (resolveReady = resolve));

  function connect(): void {
    connectionCount += 1;
    socket = openSocket({
      baseUrl: server.address,
      clientId: server.clientId,
      handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS,
      maxBytes: MAX_MESSAGE_BYTES,
    });
    if (!socket) return resolveReady();
    socket.on("open", () => resolveReady());
    socket.on("message", handleMessage);
    socket.on("ping", (bytes) => addTraffic(bytes.length));
    socket.on("pong", (bytes) => addTraffic(bytes.length));
    socket.on("error", (error) => {
      resolveReady();
      if (isTooLarge(error)) reportExceededLimit(`a message of more than ${MAX_MESSAGE_BYTES / 1024 ** 2} MB`);
      if (getCode(error) === "HPE_HEADER_OVERFLOW") reportExceededLimit("headers that are too long");
    });
    socket.on("close", () => {
      resolveReady();
      // Without messages, a job would look unresponsive.
      if (!isStopped) reconnectTimer = setTimeout(connect, RECONNECT_DELAY_MS).unref();
    });
  }

  function stop(): void {
    isStopped = true;
    clearTimeout(reconnectTimer);
    socket?.terminate();
  }

  function reportExceededLimit(reason: string): void {
    if (isStopped) return;
    stop();
    handlers.onLimitExceeded(`It sends ${reason}.`);
  }

  function addTraffic(bytes: number): boolean {
    if (isStopped) return false;
    const excess = server.traffic.add(bytes);
    if (excess !== undefined) reportExceededLimit(excess);
    return excess === undefined;
  }

  function handleMessage(bytes: RawData, isBinary: boolean): void {
    if (!Buffer.isBuffer(bytes) || !addTraffic(bytes.length)) return;
    if (isBinary) {
      if (bytes.length > 8 && bytes.readUInt32BE(0) === PREVIEW_EVENT) handlers.onPreview(bytes);
      return;
    }
    const text = meterJson(bytes, TEXT_BOUNDS);
    if (!text.ok) return reportExceededLimit(`a message with ${text.failure}`);
    try {
      const message = IGNORED_MESSAGE.test(text.value)
        ? undefined
        : parseMessage(parseExactJson(text.value, { maxNumbers: maxExactNumbers.text }));
      if (message) handlers.onMessage(message);
    } catch (error) {
      if (error instanceof TooManyExactNumbersError) reportExceededLimit(`a message with ${error.excess}`);
      // Ignore texts that are not JSON.
      else if (!(error instanceof SyntaxError)) throw error;
    }
  }

  connect();
  return {
    ready,
    /** Returns the number of the open connection, counted across reconnects, or undefined if none is open. */
    getConnection: () => (socket?.readyState === WebSocket.OPEN ? connectionCount : undefined),
    stop,
  };
}
