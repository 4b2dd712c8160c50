// A real embedded service in its own folder, used through client requests.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type QueryResultRow } from "pg";
import { inject } from "vitest";
import { createService, type ServiceOptions } from "@/lib/service/index";
import { SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { closeAfterwards } from "./close-afterwards";
import { createDatabase, inSchema, queryDatabase, type TestDatabase } from "./postgres-server";

const ORIGIN = "http://service.test";
const workerPath = join(process.cwd(), "dist", "node-worker.mjs");
const shippedImagesDir = join(process.cwd(), "public", "samples");

export type ClientResponse = { status: number; headers: Headers; body: unknown; text: string };
export type Client = ReturnType<typeof createClient>;
export type TestService = Awaited<ReturnType<typeof startService>>;

type Send = (request: Request) => Promise<Response>;

/** `key` may be a promise. Objects are sent as JSON, other bodies unchanged. */
export function createClient(send: Send, key: string | undefined | Promise<string>, origin = ORIGIN) {
  async function raw(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const isPlain =
      typeof body === "object" && body !== null && [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(body) as object);
    const userKey = await key;
    const init: RequestInit = {
      method,
      headers: {
        ...(userKey !== undefined && { "x-api-key": userKey }),
        ...(isPlain && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: isPlain ? JSON.stringify(body) : (body as RequestInit["body"]) }),
    };
    return send(new Request(origin + path, init));
  }
  async function call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ClientResponse> {
    const response = await raw(method, path, body, headers);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parse(text) };
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

/** PostgreSQL databases by folder, so that a service restarted on a folder finds its database. */
const databases = new Map<string, TestDatabase>();

async function openDatabase(folder: string): Promise<TestDatabase | undefined> {
  const server = inject("postgres");
  const database = databases.get(folder) ?? (server === undefined ? undefined : await createDatabase(server));
  if (database) databases.set(folder, database);
  return database;
}

export async function startService(options: Partial<ServiceOptions> = {}) {
  const folder = options.dataDir ?? (await mkdtemp(join(tmpdir(), "lightdesk-service-")));
  // An explicit `databaseUrl` wins, including `undefined`, which means SQLite.
  const ownDatabase = "databaseUrl" in options ? undefined : await openDatabase(folder);
  const loggedErrors: unknown[] = [];
  const recordError = (fields: unknown, message: string) => void loggedErrors.push({ fields, message });
  const log = { info: () => undefined, warn: () => undefined, error: recordError };
  const settings = {
    dataDir: folder,
    ...(ownDatabase && { databaseUrl: ownDatabase.url }),
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
    loggedErrors,
    /** Creates a client with a new key of that user. */
    client(user = "ada") {
      const key = service.keys.createKey(user).then((newKey) => newKey.key);
      // The request that uses the key will report the error.
      key.catch(() => undefined);
      return createClient(send, key);
    },
    anonymous: (key?: string) => createClient(send, key),
    /** Runs a statement directly on the service's database. */
    async queryRows<Row extends QueryResultRow>(statement: string): Promise<Row[]> {
      if (ownDatabase) return queryDatabase<Row>(inSchema(ownDatabase.url, SERVICE_SCHEMA), statement);
      const database = new SqliteConnection(join(folder, "service.sqlite"));
      try {
        const prepared = database.prepare<[], Row>(statement);
        return prepared.reader ? prepared.all() : (prepared.run(), []);
      } finally {
        database.close();
      }
    },
    /** Returns everything stored about keys: rows on PostgreSQL, otherwise the bytes of the files. */
    async readStoredKeys() {
      if (ownDatabase) return JSON.stringify(await queryDatabase(ownDatabase.url, "SELECT * FROM lightdesk_service.keys"));
      const files = (await readdir(folder)).filter((file) => file.startsWith("service.sqlite"));
      return Buffer.concat(await Promise.all(files.map((file) => readFile(join(folder, file))))).toString("latin1");
    },
    dispose: closeAfterwards(async () => {
      await service.stop();
      // Keep a folder that the caller passed, and its database.
      if (options.dataDir !== undefined) return;
      databases.delete(folder);
      await ownDatabase?.drop();
      await rm(folder, { recursive: true, force: true });
    }),
  };
}
