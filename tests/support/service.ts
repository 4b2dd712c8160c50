// A real embedded service in a folder of its own, spoken to as a client would: requests in, answers out.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { createService, type ServiceOptions } from "@/lib/service/index";

// Real jobs and processes on a machine that may be busy: bounds on a hang, not figures.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const ORIGIN = "http://service.test";
const workerPath = join(process.cwd(), "dist", "node-worker.mjs");
const shippedImagesDir = join(process.cwd(), "public", "samples");

export type Answered = { status: number; headers: Headers; body: unknown; text: string };
export type Client = ReturnType<typeof createClient>;
export type ServiceBench = Awaited<ReturnType<typeof startService>>;

type Send = (request: Request) => Promise<Response>;

/** `body`: an object goes as JSON, anything else as it is. */
export function createClient(send: Send, key: string | undefined, origin = ORIGIN) {
  async function raw(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const isPlain =
      typeof body === "object" && body !== null && [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(body) as object);
    const init: RequestInit = {
      method,
      headers: { ...(key !== undefined && { "x-api-key": key }), ...(isPlain && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: isPlain ? JSON.stringify(body) : (body as RequestInit["body"]) }),
    };
    return send(new Request(origin + path, init));
  }
  async function call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered> {
    const answer = await raw(method, path, body, headers);
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, body: parse(text) };
  }
  return {
    raw,
    call,
    get: (path: string, headers?: Record<string, string>) => call("GET", path, undefined, headers),
    post: (path: string, body?: unknown) => call("POST", path, body),
    upload: (
      bytes: Uint8Array<ArrayBuffer> | string,
      name: string,
      fields: Record<string, string> = {},
      part = "file",
      path = "/api/assets",
    ) => {
      const form = new FormData();
      for (const [field, value] of Object.entries(fields)) form.append(field, value);
      form.append(part, new Blob([bytes]), name);
      return call("POST", path, form);
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export async function startService(options: Partial<ServiceOptions> = {}) {
  const folder = options.dataDir ?? (await mkdtemp(join(tmpdir(), "lightdesk-service-")));
  const complaints: unknown[] = [];
  const complain = (fields: unknown, message: string) => void complaints.push({ fields, message });
  const log = { info: () => undefined, warn: () => undefined, error: complain };
  const settings = {
    dataDir: folder,
    shippedImagesDir,
    workerPath,
    concurrency: 2,
    maxUploadBytes: 1e9,
    maxJobPixels: 64 * 1024 ** 2,
    log,
    ...options,
  };
  const service = createService(settings);
  await service.start();
  const send: Send = (request) => service.fetch(request);
  return {
    folder,
    service,
    settings,
    complaints,
    /** A client of a new key of that user. */
    client: (user = "ada") => createClient(send, service.keys.createKey(user).key),
    anonymous: (key?: string) => createClient(send, key),
    async dispose() {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
