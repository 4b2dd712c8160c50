// Public clients of the family, unchanged from the registry: each follows a submitted graph to its end, fetches its picture, and uploads, reads or
// cancels as far as it can. The results are the client's own.
import { randomUUID } from "node:crypto";
import { CallWrapper, ComfyApi, PromptBuilder } from "@saintno/comfyui-sdk";
import { Client } from "@stable-canvas/comfyui-client";
import { ComfyUIClient, type Prompt, type QueuePromptResult } from "comfy-ui-client";
import { WebSocket } from "ws";
import { startProxy } from "./proxy";
import { until } from "./until";

/** `base`: the URL before /prompt and the other paths; `headers` identify the caller. */
export type ServiceTarget = { base: string; headers: Record<string, string> };
export type Graph = Record<string, { class_type: string; inputs: Record<string, unknown> }>;
export type ClientResult = {
  /** The picture created by `outputNode`. */
  picture: Uint8Array;
  uploaded: string;
  queue: { running: number; pending: number };
  /** Ids of jobs in the history. */
  history: string[];
  system: unknown;
  classes: string[];
  /** The types of the events it received. */
  received: string[];
};

type ClientTask = { graph: Graph; outputNode: string; upload: Uint8Array };
type Item = { filename: string; subfolder: string; type: string };

/** A client's methods for changing submitted jobs. */
export type Controls = {
  submit(graph: Graph): Promise<string>;
  interrupt(id: string): Promise<void>;
  /** Deletes a job from the queue. Two of the three clients support this. */
  removeFromQueue?(id: string): Promise<void>;
  clearQueue?(): Promise<void>;
  /** Returns the history entry of one job, or undefined if there is none. */
  getHistoryEntry(id: string): Promise<unknown>;
  deleteFromHistory(id: string): Promise<void>;
  clearHistory(): Promise<void>;
  freeMemory?(): Promise<void>;
};

const getBytes = async (blob: Blob) => new Uint8Array(await blob.arrayBuffer());

/** Accepts a custom `fetch` and WebSocket; connects to /ws next to its base. It checks no status, so its `fetch` does. */
function createStableCanvasClient({ base, headers }: ServiceTarget): Client {
  const { host, pathname } = new URL(base);
  class Socket extends WebSocket {
    constructor(address: string) {
      super(address, { headers });
    }
  }
  return new Client({
    api_host: host,
    api_base: pathname === "/" ? "" : pathname,
    clientId: randomUUID(),
    WebSocket: Socket,
    async fetch(address: string, init?: RequestInit) {
      const response = await fetch(address, { ...init, headers: { ...(init?.headers as object), ...headers } });
      if (!response.ok) throw new Error(`${init?.method ?? "GET"} ${address}: ${response.status}`);
      return response;
    },
  });
}

const createSaintnoClient = ({ base, headers }: ServiceTarget) =>
  new ComfyApi(base, randomUUID(), { credentials: { type: "custom", headers } });

/** The client starts listening after it has the job's id, so it would miss an earlier end. */
class ListeningClient extends ComfyUIClient {
  override async queuePrompt(prompt: Prompt): Promise<QueuePromptResult> {
    this.ws?.pause();
    const queuePromptResult = await super.queuePrompt(prompt);
    setImmediate(() => this.ws?.resume());
    return queuePromptResult;
  }
}

/** It can't send custom headers, so a proxy adds them. */
async function createComfyUiClient({ base, headers }: ServiceTarget) {
  const proxy = await startProxy(() => new URL(base).origin, { headers });
  const { pathname } = new URL(base);
  return { client: new ListeningClient(`${proxy.host}${pathname === "/" ? "" : pathname}`, randomUUID()), proxy };
}

/** These clients return a picture once its node has finished, just before the job ends. */
const waitForEnd = (received: readonly string[]) =>
  until("the client receives the end of the job", () => received.includes("execution_success"));

export const publicClients: Record<string, (target: ServiceTarget, work: ClientTask) => Promise<ClientResult>> = {
  /** It cannot upload. */
  async "@stable-canvas/comfyui-client"(target, { graph, outputNode }) {
    const client = createStableCanvasClient(target);
    const received: string[] = [];
    for (const type of ["status", "execution_start", "executing", "progress", "executed", "execution_success"] as const)
      client.on(type, () => void received.push(type));
    try {
      await client.connect();
      const workflow = await client.enqueue(graph, {
        resolver: (result, output, { node_id }) => (node_id === outputNode ? { ...result, data: output } : result),
      });
      const output = workflow.data as { images: Item[] } | null;
      const [item] = output?.images ?? [];
      if (!item) throw new Error("The client returned no picture.");
      const response = await client.fetchApi(`/view?${new URLSearchParams({ ...item }).toString()}`);
      await waitForEnd(received);
      const { Running, Pending } = await client.getQueue();
      const { History } = await client.getHistory();
      return {
        picture: new Uint8Array(await response.arrayBuffer()),
        uploaded: "",
        queue: { running: Running.length, pending: Pending.length },
        history: History.map(({ prompt }) => String(prompt[1])),
        system: (await client.getSystemStats()).system,
        classes: Object.keys(await client.getNodeDefs()),
        received,
      };
    } finally {
      client.disconnect();
    }
  },

  /** Accepts custom headers; connects to /ws below its base. */
  async "@saintno/comfyui-sdk"(target, { graph, outputNode, upload }) {
    const api = createSaintnoClient(target);
    const received: string[] = [];
    for (const type of ["status", "execution_start", "executing", "progress", "executed", "execution_success"] as const)
      api.on(type, () => void received.push(type));
    try {
      await api.init().waitForReady();
      const titledGraph = Object.fromEntries(Object.entries(graph).map(([id, node]) => [id, { ...node, _meta: { title: id } }]));
      const prompt = new PromptBuilder(titledGraph, [], ["picture"]).setOutputNode("picture", outputNode);
      const result = await new CallWrapper(api, prompt).run();
      if (!result) throw new Error("The client reported a failed job.");
      const { images } = result.picture as unknown as { images: Parameters<ComfyApi["getImage"]>[0][] };
      const [item] = images;
      if (!item) throw new Error("The client returned no picture.");
      await waitForEnd(received);
      const uploaded = await api.uploadImage(upload, "sent.png");
      const queue = await api.getQueue();
      return {
        picture: await getBytes(await api.getImage(item)),
        uploaded: uploaded ? uploaded.info.filename : "",
        queue: { running: queue.queue_running.length, pending: queue.queue_pending.length },
        history: Object.keys(await api.getHistories()),
        system: (await api.getSystemStats()).system,
        classes: Object.keys((await api.getNodeDefs("SaveImage")) ?? {}),
        received,
      };
    } finally {
      api.destroy();
    }
  },

  async "comfy-ui-client"(target, { graph, outputNode, upload }) {
    const { client, proxy } = await createComfyUiClient(target);
    try {
      await client.connect();
      const [image] = (await client.getImages(graph))[outputNode] ?? [];
      if (!image) throw new Error("The client returned no picture.");
      const uploadImageResult = await client.uploadImage(Buffer.from(upload), "sent.png", true);
      const queue = await client.getQueue();
      return {
        picture: await getBytes(image.blob),
        uploaded: uploadImageResult.name,
        queue: { running: queue.queue_running.length, pending: queue.queue_pending.length },
        history: Object.keys(await client.getHistory()),
        system: ((await client.getSystemStats()) as unknown as { system: unknown }).system,
        classes: Object.keys(await client.getObjectInfo("SaveImage")),
        received: [],
      };
    } finally {
      await client.disconnect();
      proxy.stop();
    }
  },
};

/** Controls need no socket, since their calls return immediately. */
export const clientControls: Record<string, (target: ServiceTarget, callback: (controls: Controls) => Promise<void>) => Promise<void>> = {
  async "@stable-canvas/comfyui-client"(target, callback) {
    const client = createStableCanvasClient(target);
    await callback({
      submit: async (graph) => (await client._enqueue_prompt(graph)).prompt_id,
      interrupt: (id) => client.interrupt(id),
      removeFromQueue: (id) => client.deleteItem("queue", id),
      clearQueue: () => client.clearItems("queue"),
      getHistoryEntry: async (id) => (await client.getHistory()).History.find(({ prompt }) => prompt[1] === id),
      deleteFromHistory: (id) => client.deleteItem("history", id),
      clearHistory: () => client.clearItems("history"),
      freeMemory: () => client.free({ unload_models: true, free_memory: true }),
    });
  },

  /** Interrupts without naming a job, so it sends no body. */
  async "@saintno/comfyui-sdk"(target, callback) {
    const api = createSaintnoClient(target);
    await callback({
      submit: async (graph) => (await api.appendPrompt(graph)).prompt_id,
      interrupt: () => api.interrupt(),
      removeFromQueue: (id) => api.manageQueue({ delete: [id] }),
      clearQueue: () => api.manageQueue({ clear: true }),
      getHistoryEntry: (id) => api.getHistory(id),
      deleteFromHistory: (id) => api.clearHistory({ delete: [id] }),
      clearHistory: () => api.clearHistory({ clear: true }),
      async freeMemory() {
        if (!(await api.freeMemory(true, true))) throw new Error("The client couldn't free memory.");
      },
    });
    api.destroy();
  },

  /** Interrupts like the previous one, but then expects a JSON object that no service returns. */
  async "comfy-ui-client"(target, callback) {
    const { client, proxy } = await createComfyUiClient(target);
    await callback({
      submit: async (graph) => (await client.queuePrompt(graph)).prompt_id,
      interrupt: () => client.interrupt().catch(ignoreMissingJson),
      getHistoryEntry: async (id) => (await client.getHistory(id))[id],
      deleteFromHistory: (id) => client.editHistory({ delete: [id] }),
      clearHistory: () => client.editHistory({ clear: true }),
    }).finally(() => proxy.stop());
  },
};

function ignoreMissingJson(error: unknown): void {
  if (!(error instanceof SyntaxError)) throw error;
}
