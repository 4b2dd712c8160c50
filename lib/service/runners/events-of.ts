// Turns what a runner reports of one job while it runs (GET /ws of the family) into the events of a run.
// Best effort on purpose: how a job ended is read from its history; without this, only progress is missing.
// Guarantees: messages are counted and bounded before they are parsed, one per event loop turn; repeated ones are reported once.
// Must never: send an Origin, or take a message about another job for one about this job.

import { lookup as systemLookup } from "node:dns";
import { type RawData, WebSocket } from "ws";
import { numberOf, objectOf, textOf } from "@/lib/contract/json/json";
import { maxExactNumbers, parseExactJson, TooManyExactNumbers } from "@/lib/contract/json/parse-json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { guardedLookup, isForbiddenAddress } from "@/lib/shared/guarded-connector";
import { type RunEvent } from "../nodes/run";
import { meterJson, type RunnerTraffic } from "./speak";

/** SaveImageWebsocket sends full-size pictures. */
const MAX_MESSAGE_BYTES = 32 * 1024 ** 2;
const TEXT_BOUNDS = { bytes: 4 * 1024 ** 2, values: 50_000 };
/** Lists every node of the job; its content is ignored. */
const UNREAD = /^\{\s*"type"\s*:\s*"progress_state"/;
const HANDSHAKE_MS = 3000;
const AGAIN_MS = 1000;
const PREVIEW = 1;

type Handlers = {
  /** Any message about the job came. */
  reported: () => void;
  /** A node has put something out that can be fetched from the runner. */
  executed: (nodeId: string, output: unknown) => void;
  /** The job has ended at the runner, in whatever way. */
  ended: () => void;
  /** The runner exceeds its limits; nothing more from it is read. `message`: the reason, as a sentence. */
  exceeded: (message: string) => void;
  on: (event: RunEvent) => void;
};

type Times = { startMs: number; endMs: number; cached: boolean };

export type Listening = {
  /** Resolves once the connection is open, or cannot be opened. */
  ready: Promise<void>;
  /** Sets the job's id at the runner, if the runner chose its own. */
  isCalled(promptId: string): void;
  /** The times of the nodes that have ended; the running one ends with the run. */
  timesOf(nodeId: string): Times | undefined;
  /** The number of the connection that is open now, since one follows another; undefined: none. A restarted runner has another one. */
  connection(): number | undefined;
  /** Changes with the runner's queue, and when the job starts. */
  queueVersion(): string;
  stop(): void;
};

export function listenTo(
  runner: { address: string; clientId: string; traffic: RunnerTraffic },
  job: { promptId: string; graph: Graph; nodesTotal: number },
  { reported, executed, ended, exceeded, on }: Handlers,
): Listening {
  let promptId = job.promptId;
  let working: { nodeId: string; startMs: number } | undefined;
  const times = new Map<string, Times>();
  let hasCached = false;
  let hasBegun = false;
  let queueChanges = 0;
  let isStopped = false;

  function endWorking(): void {
    if (!working) return;
    const { nodeId, startMs } = working;
    working = undefined;
    times.set(nodeId, { startMs, endMs: Date.now(), cached: false });
    on({ kind: "node", nodeId, startMs, endMs: Date.now(), cached: false, files: [] });
  }

  /** If the screen shows another node in place of this one, that node is reported. */
  const nodeOf = (data: Record<string, unknown>) =>
    [data.display_node, data.node].find((id): id is string => typeof id === "string" && Object.hasOwn(job.graph, id));

  function handle(type: string, data: Record<string, unknown>): void {
    if (data.prompt_id !== promptId) return;
    reported();
    if (!hasBegun) on({ kind: "begun" });
    hasBegun = true;
    if (type === "execution_cached") {
      const named = new Set<unknown>(Array.isArray(data.nodes) ? data.nodes : []);
      const nodeIds = Object.keys(job.graph).filter((id) => named.has(id) && !times.has(id));
      if (nodeIds.length === 0 && hasCached) return;
      hasCached = true;
      const at = Date.now();
      on({ kind: "cached", nodeIds, at });
      for (const nodeId of nodeIds) {
        times.set(nodeId, { startMs: at, endMs: at, cached: true });
        on({ kind: "node", nodeId, startMs: at, endMs: at, cached: true, files: [] });
      }
    } else if (type === "executing") {
      const nodeId = nodeOf(data);
      if (nodeId === undefined) {
        endWorking();
        if (data.node === null) ended();
      } else if (working?.nodeId !== nodeId) {
        endWorking();
        working = { nodeId, startMs: Date.now() };
        on({ kind: "start", nodeId, startMs: working.startMs });
      }
    } else if (type === "progress") {
      const currentNode = nodeOf(data) ?? working?.nodeId;
      const [step, steps] = [numberOf(data.value), numberOf(data.max)];
      if (currentNode === undefined || step === undefined || !steps) return;
      on({ kind: "progress", nodesDone: times.size, nodesTotal: job.nodesTotal, currentNode, step, steps });
    } else if (type === "executed") {
      // By the node itself, as in the history; the outputs of one that is not in the graph are fetched at the end.
      const nodeId = textOf(data.node);
      if (nodeId !== undefined && Object.hasOwn(job.graph, nodeId)) executed(nodeId, data.output);
    } else if (/^execution_(success|error|interrupted)$/.test(type)) {
      if (type === "execution_success") endWorking();
      ended();
    }
  }

  const url = new URL(`${runner.address}/ws`);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.searchParams.set("clientId", runner.clientId);
  if (isForbiddenAddress(url.hostname))
    return {
      ready: Promise.resolve(),
      isCalled: () => undefined,
      timesOf: () => undefined,
      connection: () => undefined,
      queueVersion: () => "",
      stop: () => undefined,
    };
  let open: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => (open = resolve));
  let socket: WebSocket;
  let again: NodeJS.Timeout | undefined;
  let connections = 0;

  function connect(): void {
    connections += 1;
    socket = new WebSocket(url, {
      headers: { "user-agent": "lightdesk" },
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      // Messages that arrive together are parsed one per event loop turn, so that other work can run in between.
      allowSynchronousEvents: false,
      followRedirects: false,
      lookup: guardedLookup(systemLookup),
    });
    socket.on("open", () => open());
    socket.on("message", receive);
    socket.on("ping", (bytes) => isWithinLimits(bytes.length));
    socket.on("pong", (bytes) => isWithinLimits(bytes.length));
    // How the job ends is read from the history anyway.
    socket.on("error", (error) => {
      open();
      const code = "code" in error ? error.code : undefined;
      if (code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") exceed(`a message of more than ${MAX_MESSAGE_BYTES / 1024 ** 2} MB`);
      if (code === "HPE_HEADER_OVERFLOW") exceed("headers that are too long");
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
    socket.terminate();
  }

  function exceed(what: string): void {
    if (isStopped) return;
    stop();
    exceeded(`It sends ${what}.`);
  }

  function isWithinLimits(bytes: number): boolean {
    if (isStopped) return false;
    const excess = runner.traffic.add(bytes);
    if (excess !== undefined) exceed(excess);
    return excess === undefined;
  }

  function receive(bytes: RawData, isBinary: boolean): void {
    if (!Buffer.isBuffer(bytes) || !isWithinLimits(bytes.length)) return;
    if (isBinary) {
      if (working && bytes.length > 8 && bytes.readUInt32BE(0) === PREVIEW) on({ kind: "preview", bytes });
      return;
    }
    const text = meterJson(bytes, TEXT_BOUNDS);
    if (!text.ok) return exceed(`a message with ${text.failure}`);
    if (UNREAD.test(text.value)) return;
    const message = read(text.value);
    const [type, data] = [textOf(message?.type), objectOf(message?.data)];
    if (type === "status") queueChanges += 1;
    if (type !== undefined && data) handle(type, data);
  }

  /** Anything but JSON is ignored. */
  function read(text: string) {
    try {
      return objectOf(parseExactJson(text, { most: maxExactNumbers.text }));
    } catch (error) {
      if (error instanceof TooManyExactNumbers) exceed(`a message with ${error.excess}`);
      return undefined;
    }
  }

  connect();
  return {
    ready,
    isCalled: (id) => void (promptId = id),
    timesOf: (nodeId) => times.get(nodeId),
    connection: () => (socket.readyState === WebSocket.OPEN ? connections : undefined),
    queueVersion: () => (hasBegun ? "begun" : String(queueChanges)),
    stop,
  };
}
