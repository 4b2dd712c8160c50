// A fake runner that runs its jobs one after another, strict about the dialect, with faults on demand. Nodes compute nothing; `makeOutput` returns
// their outputs. It has no key and refuses foreign origins.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { type WebSocket, WebSocketServer } from "ws";

type Json = Record<string, unknown>;
type Node = { class_type: string; inputs: Json };
type QueueItem = [number, string, Record<string, Node>, Json, string[]];
type NodeOutput = { files?: { name: string; bytes: Buffer; type?: "output" | "temp"; key?: string }[]; other?: Json };
/** `run` completes; `hold` stops in its first node until released; `fail` throws in its last node. */
type RunMode = "run" | "hold" | "hold the last" | "fail";

export type RunnerServer = Awaited<ReturnType<typeof startRunnerServer>>;

export type RunnerOptions = {
  /** The response of GET /object_info. */
  objectInfo: Json;
  makeOutput?: (node: Node, nodeId: string) => NodeOutput | undefined;
  /** An older version, which chooses job ids itself and interrupts any running job. */
  isOld?: boolean;
  vram?: number;
  /** Called and awaited when a job starts, before its nodes. */
  onJobStart?: (graph: Record<string, Node>) => Promise<void>;
  /** Returns the errors of nodes. A graph with errors in all nodes is refused. */
  getNodeErrors?: (graph: Record<string, Node>) => Json;
};

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export async function startRunnerServer({
  objectInfo,
  makeOutput = () => undefined,
  isOld = false,
  vram = 8e9,
  onJobStart,
  getNodeErrors,
}: RunnerOptions) {
  let running: QueueItem | undefined;
  let pending: QueueItem[] = [];
  let history = new Map<string, Json>();
  let number = 0;
  let getMode: (item: QueueItem) => RunMode = () => "run";
  let release: (() => void) | undefined;
  let generation = 0;
  let port = 0;
  let server: Server | undefined;
  const sockets = new Set<Socket>();
  const listeners = new Map<string, WebSocket>();
  const inputs = new Map<string, Buffer>();
  const outputs = new Map<string, { bytes: Buffer; type: string }>();
  /** Graphs that already ran. A rerun reports their files without writing them. */
  const cache = new Set<string>();
  const seen = {
    views: [] as string[],
    submissions: [] as Json[],
    /** Submissions as unparsed text. */
    submittedTexts: [] as string[],
    uploads: [] as string[],
    interrupts: [] as unknown[],
    deletes: [] as unknown[],
    frees: [] as unknown[],
    ran: [] as string[],
  };
  /** Handlers by path that replace the real response, once per entry or for every request. */
  const faults = new Map<string, (request: IncomingMessage, response: ServerResponse, respond: () => Promise<void>) => unknown>();

  const sendEvent = (item: QueueItem, type: string, data: Json) => {
    const clientId = item[3].client_id;
    const message = JSON.stringify({ type, data: { ...data, prompt_id: item[1] } });
    if (typeof clientId === "string") listeners.get(clientId)?.send(message);
  };

  async function runAll(): Promise<void> {
    const startedGeneration = generation;
    while (!running && startedGeneration === generation) {
      const item = pending.shift();
      if (!item) return;
      running = item;
      seen.ran.push(item[1]);
      await runOne(item, startedGeneration);
      if (startedGeneration !== generation) return;
      running = undefined;
      sendEvent(item, "executing", { node: null });
    }
  }

  async function runOne(item: QueueItem, startedGeneration: number): Promise<void> {
    const [, id, graph, , targets] = item;
    const at = Date.now();
    const messages: unknown[] = [["execution_start", { prompt_id: id, timestamp: at }]];
    const outputsByNode: Json = {};
    const store = (status_str: string, last: unknown) =>
      history.set(id, {
        prompt: item,
        outputs: outputsByNode,
        status: { status_str, completed: status_str === "success", messages: [...messages, last] },
        meta: {},
      });
    sendEvent(item, "execution_start", { timestamp: at });
    sendEvent(item, "execution_cached", { nodes: [], timestamp: at });
    messages.push(["execution_cached", { nodes: [], prompt_id: id, timestamp: at }]);
    await onJobStart?.(graph);
    if (startedGeneration !== generation) return;
    const order = Object.keys(graph);
    const mode = getMode(item);
    let isInterrupted = false;
    for (const [index, nodeId] of order.entries()) {
      const node = graph[nodeId];
      if (!node) continue;
      sendEvent(item, "executing", { node: nodeId, display_node: nodeId });
      sendEvent(item, "progress", { node: nodeId, value: 1, max: 2 });
      if ((mode === "hold" && index === 0) || (mode === "hold the last" && index === order.length - 1)) {
        const clientId = item[3].client_id;
        if (typeof clientId === "string") listeners.get(clientId)?.send(Buffer.from([0, 0, 0, 1, 0, 0, 0, 2, 9, 9, 9]));
        isInterrupted = await new Promise<boolean>((resolve) => {
          release = () => resolve(false);
          stopRunning = () => resolve(true);
        });
        if (startedGeneration !== generation) return;
      }
      if (isInterrupted) {
        const facts = { prompt_id: id, node_id: nodeId, node_type: node.class_type, executed: order.slice(0, index) };
        store("error", ["execution_interrupted", facts]);
        return sendEvent(item, "execution_interrupted", facts);
      }
      if (mode === "fail" && index === order.length - 1) {
        const message = `${node.class_type} broke on ${JSON.stringify(Object.values(graph).map(({ inputs }) => inputs))}`;
        const facts = {
          node_id: nodeId,
          node_type: node.class_type,
          exception_message: message,
          exception_type: "RuntimeError",
          traceback: ["line 1\n"],
          executed: order.slice(0, index),
          current_inputs: {},
          current_outputs: order.slice(0, index),
        };
        store("error", ["execution_error", { prompt_id: id, ...facts, timestamp: Date.now() }]);
        return sendEvent(item, "execution_error", facts);
      }
      const result = targets.includes(nodeId) ? makeOutput(node, nodeId) : undefined;
      if (!result) continue;
      const output: Json = { ...result.other };
      for (const { name, bytes, type = "output", key = "images" } of result.files ?? []) {
        if (!cache.has(JSON.stringify(graph))) outputs.set(name, { bytes, type });
        output[key] = [...((output[key] as unknown[] | undefined) ?? []), { filename: name, subfolder: "sub", type }];
      }
      outputsByNode[nodeId] = output;
      sendEvent(item, "executed", { node: nodeId, display_node: nodeId, output });
    }
    cache.add(JSON.stringify(graph));
    store("success", ["execution_success", { prompt_id: id, timestamp: Date.now() }]);
    sendEvent(item, "execution_success", { timestamp: Date.now() });
  }
  let stopRunning: (() => void) | undefined;

  function submit(body: Json, sendJson: (value: unknown, status?: number) => void): void {
    const sendError = (type: string, message: string, node_errors: Json = {}) =>
      sendJson({ error: { type, message, details: "", extra_info: {} }, node_errors }, 400);
    const graph = body.prompt as Record<string, Node> | undefined;
    if (!graph) return sendError("no_prompt", "No prompt provided");
    if (!isOld && body.prompt_id !== undefined && !uuidPattern.test(String(body.prompt_id))) return sendError("invalid_prompt_id", "");
    for (const node of Object.values(graph)) {
      if (!Object.hasOwn(objectInfo, node.class_type)) return sendError("missing_node_type", `${node.class_type} does not exist.`);
      const image = node.class_type === "LoadImage" ? node.inputs.image : undefined;
      if (typeof image === "string" && !inputs.has(image))
        return sendError("prompt_outputs_failed_validation", `Invalid image file: ${image}`);
    }
    const node_errors = getNodeErrors?.(graph) ?? {};
    if (Object.keys(node_errors).length === Object.keys(graph).length)
      return sendError("prompt_outputs_failed_validation", "Prompt outputs failed validation", node_errors);
    seen.submissions.push(body);
    const id = isOld || body.prompt_id === undefined ? randomUUID() : String(body.prompt_id);
    const isOutput = (node: Node) => (objectInfo[node.class_type] as Json).output_node === true;
    const targets = body.partial_execution_targets as string[] | undefined;
    const outputNodeIds = Object.entries(graph).flatMap(([nodeId, node]) =>
      isOutput(node) && (isOld || (targets?.includes(nodeId) ?? true)) ? [nodeId] : [],
    );
    if (outputNodeIds.length === 0) return sendError("prompt_no_outputs", "Prompt has no outputs");
    pending.push([
      (number += 1),
      id,
      graph,
      { ...(body.extra_data as Json), ...(body.client_id !== undefined && { client_id: body.client_id }) },
      outputNodeIds,
    ]);
    sendJson({ prompt_id: id, number, node_errors });
    setImmediate(() => void runAll());
  }

  async function real(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://runner");
    const route = `${request.method} ${url.pathname.replace(/^\/api/, "")}`;
    const sendJson = (value: unknown, status = 200) =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    const sendEmpty = (status: number) => void response.writeHead(status).end();
    if (request.headers.origin !== undefined) return sendEmpty(403);
    const body = await buffer(request);
    const parseBody = () => JSON.parse(body.toString("utf8") || "null") as Json;
    if (route === "GET /system_stats")
      return sendJson({
        system: { os: "linux", comfyui_version: isOld ? "0.3.64" : "0.27.0" },
        devices: [{ name: "gpu 0", type: "cuda", vram_total: vram, vram_free: vram / 2 }],
      });
    if (route === "GET /object_info") return sendJson(objectInfo);
    if (route === "GET /queue") return sendJson({ queue_running: running ? [running] : [], queue_pending: pending });
    if (route === "GET /history")
      return sendJson(Object.fromEntries([...history].slice(-Number(url.searchParams.get("max_items") ?? 10_000))));
    const [, id] = /^GET \/history\/(.+)$/.exec(route) ?? [];
    if (id !== undefined) return sendJson(history.has(id) ? { [id]: history.get(id) } : {});
    if (route === "POST /prompt") {
      seen.submittedTexts.push(body.toString("utf8"));
      return submit(parseBody(), sendJson);
    }
    if (route === "POST /queue") {
      const ids = (parseBody().delete as unknown[] | undefined) ?? [];
      seen.deletes.push(...ids);
      pending = pending.filter((item) => !ids.includes(item[1]));
      return sendEmpty(200);
    }
    if (route === "POST /free") {
      seen.frees.push(parseBody());
      cache.clear();
      return sendEmpty(200);
    }
    if (route === "POST /interrupt") {
      const promptId = body.length > 0 ? parseBody().prompt_id : undefined;
      seen.interrupts.push(promptId);
      if (running && (isOld || promptId === undefined || promptId === running[1])) stopRunning?.();
      return sendEmpty(200);
    }
    if (route === "POST /upload/image") {
      const form = await new Response(new Uint8Array(body), {
        headers: { "content-type": request.headers["content-type"] ?? "" },
      }).formData();
      const file = form.get("image");
      if (!(file instanceof File)) return sendEmpty(400);
      const [subfolder = "", type = "input"] = [form.get("subfolder"), form.get("type")].map((field) => field?.toString());
      const path = `${type === "input" ? "" : `${type}:`}${subfolder ? `${subfolder}/` : ""}${file.name}`;
      inputs.set(path, Buffer.from(await file.arrayBuffer()));
      seen.uploads.push(path);
      return sendJson({ name: file.name, subfolder, type });
    }
    if (route === "GET /view") {
      const name = url.searchParams.get("filename") ?? "";
      const [folder, type] = [url.searchParams.get("subfolder"), url.searchParams.get("type")];
      const buffer = inputs.get(`${type === "input" ? "" : `${type}:`}${folder ? `${folder}/` : ""}${name}`);
      const bytes = buffer ?? (type === "input" ? undefined : outputs.get(name)?.bytes);
      if (!bytes) return sendEmpty(404);
      if (request.headers.range === "bytes=0-0")
        return void response
          .writeHead(206, { "content-range": `bytes 0-0/${bytes.length}`, "content-length": 1 })
          .end(bytes.subarray(0, 1));
      seen.views.push(name);
      return void response.writeHead(200, { "content-length": bytes.length }).end(bytes);
    }
    sendEmpty(404);
  }

  async function listen(): Promise<void> {
    const wss = new WebSocketServer({ noServer: true });
    server = createServer((request, response) => {
      const path = new URL(request.url ?? "/", "http://runner").pathname;
      const fault = faults.get(`${request.method} ${path}`) ?? faults.get(`${request.method} ${path.replace(/\/[^/]+$/, "/*")}`);
      void (fault ? fault(request, response, () => real(request, response)) : real(request, response));
    });
    server.on("connection", (socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    });
    server.on("upgrade", (request, socket, head) => {
      const url = new URL(request.url ?? "/", "http://runner");
      const clientId = url.searchParams.get("clientId") ?? randomUUID();
      if (request.headers.origin !== undefined || url.pathname !== "/ws") return void socket.destroy();
      wss.handleUpgrade(request, socket, head, (peer) => {
        listeners.set(clientId, peer);
        peer.on("close", () => listeners.get(clientId) === peer && listeners.delete(clientId));
        peer.send(JSON.stringify({ type: "status", data: { status: { exec_info: { queue_remaining: pending.length } }, sid: clientId } }));
      });
    });
    await new Promise<void>((resolve) => server?.listen(port, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  }

  async function disconnect(): Promise<void> {
    const closing = new Promise((resolve) => server?.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closing;
  }

  await listen();
  return {
    address: `http://127.0.0.1:${port}`,
    seen,
    faults,
    inputs,
    /** Sends a message to all clients. */
    send: (message: string | Buffer) => listeners.forEach((peer) => peer.send(message)),
    /** Deletes the runner's output files. */
    deleteOutputs: () => outputs.clear(),
    /** Whether a client is listening. */
    hasListeners: () => listeners.size > 0,
    queue: () => ({ running: running?.[1], pending: pending.map((item) => item[1]) }),
    /** Sets how jobs behave from now on. */
    setMode: (mode: RunMode | ((item: QueueItem) => RunMode)) => void (getMode = typeof mode === "function" ? mode : () => mode),
    release: () => release?.(),
    /** Loses queue and history, as after a restart. */
    restart(): void {
      generation += 1;
      running = undefined;
      pending = [];
      history = new Map();
      for (const peer of listeners.values()) peer.terminate();
      release?.();
    },
    /** Cuts the network in both directions. The running job continues. */
    disconnect,
    reconnect: listen,
    /** Adds a job of another client. */
    submitAsOtherClient: (graph: Record<string, Node>) => submit({ prompt: graph }, () => undefined),
    /** Interrupts the running job, as another user would. */
    interrupt: () => stopRunning?.(),
    close: disconnect,
  };
}
