// The whole console without a socket: real store, real embedded service, members of each role with sessions, a captured log. Requests are real
// Request objects handled by the route files.
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encode } from "next-auth/jwt";
import { inject } from "vitest";
import { type Role, roles } from "@/lib/contract/members/roles";
import { createOwner } from "@/lib/server/auth/sign-in";
import { type Context, readViewer, type Viewer } from "@/lib/server/auth/viewer";
import { type CompositionOptions, startComposition } from "@/lib/server/composition";
import { readEnv } from "@/lib/server/env";
import { storeApiKey } from "@/lib/server/keys/key-ring";
import { type Member } from "@/lib/server/store/people/members";
import { closeAfterwards } from "./close-afterwards";
import { createDatabase, queryDatabase } from "./postgres-server";
import { loadHandlers, matchRoute } from "./routes";

export const HOST = "desk.test";
export const PASSWORD = "correct horse battery staple";

export type HarnessRequest = {
  /** A role, or a custom cookie header; anonymous without either. */
  as?: Role;
  cookie?: string;
  method?: string;
  json?: unknown;
  body?: BodyInit;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};
type Claims = { sub: string; version: number; sid?: string };
export type Harness = Awaited<ReturnType<typeof createHarness>>;

/** `dataDir`: a data folder of an earlier harness, or a copy; its members exist already. */
type HarnessOptions = Partial<Pick<CompositionOptions, "now" | "upstreamLimits">> & { settings?: Record<string, string>; dataDir?: string };

export async function createHarness({ settings = {}, dataDir, ...options }: HarnessOptions = {}) {
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), "lightdesk-console-")));
  // The same suites run on both databases: vitest.config.ts lists those that run on PostgreSQL too.
  const server = inject("postgres");
  const database =
    server === undefined || dataDir !== undefined || settings.DATABASE_URL !== undefined ? undefined : await createDatabase(server);
  const env = readEnv({
    LIGHTDESK_DATA_DIR: folder,
    LIGHTDESK_CONCURRENCY: "1",
    ...(database && { DATABASE_URL: database.url }),
    ...settings,
  });
  let logText = "";
  const logDestination = { write: (line: string) => void (logText += line) };
  // Tests change services directly, so responses must not be cached.
  const upstreamLimits = Object.assign(options.upstreamLimits ?? {}, { sharedMs: options.upstreamLimits?.sharedMs ?? 0 });
  const console = startComposition({ env, logDestination, ...options, upstreamLimits });
  const stop = console.stop.bind(console);
  let stopping: Promise<void> | undefined;
  console.stop = () => (stopping ??= stop());
  await console.ready;

  const owner = dataDir === undefined ? await setUpOwner() : await console.store.members.getByEmail("owner@desk.test");
  const viewers = new Map<Role, Viewer>();
  const cookies = new Map<Role, string>();
  for (const role of roles) {
    const email = `${role}@desk.test`;
    const memberFields = { name: role, email, role, passwordHash: owner?.passwordHash, createdAt: console.now() };
    const member =
      role === "owner"
        ? owner
        : dataDir === undefined
          ? await console.store.members.create(memberFields)
          : await console.store.members.getByEmail(email);
    if (!member) throw new Error(`no member ${role}`);
    await startSession(role, member);
  }

  async function setUpOwner(): Promise<Member> {
    const token = new URL(console.getSetUpUrl() ?? "").searchParams.get("token") ?? "";
    const outcome = await createOwner(console, { token, name: "Olga Owner", email: "owner@desk.test", password: PASSWORD });
    if (!outcome.ok) throw new Error(outcome.failure.message);
    return outcome.value;
  }

  async function startSession(role: Role, { id, sessionVersion }: Member): Promise<void> {
    const cookie = await mintCookie({ sub: id, version: sessionVersion });
    const viewer = await readViewer(console, new Headers({ cookie }));
    if (!viewer) throw new Error(`no viewer ${role}`);
    viewers.set(role, viewer);
    cookies.set(role, cookie);
  }

  function getViewer(role: Role): Viewer {
    const viewer = viewers.get(role);
    if (!viewer) throw new Error(`no viewer ${role}`);
    return viewer;
  }

  /** A cookie like that of a sign-in, with its session in the store; with another secret, only the cookie. */
  async function mintCookie(claims: Claims, secret = console.authSecret): Promise<string> {
    const { sub: memberId, version, sid: id = randomUUID() } = claims;
    const at = console.now();
    const times = { createdAt: at, usedAt: at, confirmedAt: at };
    const session = { id, memberId, version, method: "password", browser: "Firefox · Linux", address: "198.51.100.1", ...times };
    if (secret === console.authSecret) await console.store.sessions.create(session, env.session);
    return `lightdesk.session=${await encode({ token: { ...claims, sid: id }, secret })}`;
  }

  async function request(
    path: string,
    { as, cookie = as && cookies.get(as), method = "GET", json, body, headers, signal }: HarnessRequest = {},
  ): Promise<Response> {
    const isChange = method !== "GET" && method !== "HEAD";
    const allHeaders = new Headers({
      host: HOST,
      ...(isChange && { origin: `http://${HOST}` }),
      ...(cookie !== undefined && { cookie }),
      ...headers,
    });
    if (json !== undefined) allHeaders.set("content-type", "application/json");
    const init = { method, headers: allHeaders, signal, body: json === undefined ? body : JSON.stringify(json), duplex: "half" };
    const request = new Request(`http://${HOST}${path}`, init);
    const route = matchRoute(new URL(request.url).pathname);
    // Falls back from HEAD to GET, as Next does.
    const handlers = route && (await loadHandlers(route.file));
    const handler = handlers?.get(method) ?? (method === "HEAD" ? handlers?.get("GET") : undefined);
    if (!route || !handler) throw new Error(`no handler for ${method} ${path}`);
    return handler(request, { params: Promise.resolve(route.params) });
  }

  return {
    folder,
    console,
    request,
    mintCookie,
    getCookie: (role: Role) => cookies.get(role) ?? "",
    /** Signs in every remaining member again, for tests that end sessions. */
    async renewCookies() {
      for (const [role, { memberId }] of viewers) {
        const member = await console.store.members.get(memberId);
        if (member) await startSession(role, member);
      }
    },
    getViewer,
    getContext: (role: Role): Context => ({ composition: console, viewer: getViewer(role) }),
    /** Creates a shared connection without checking it at the service. */
    async connect(baseUrl: string, apiKey: string | undefined): Promise<string> {
      const { store, keyRing, now } = console;
      const connection = await store.connections.create({ name: "Another service", baseUrl, createdAt: now() });
      if (apiKey !== undefined) await storeApiKey(store.keys, keyRing, { connectionId: connection.id, apiKey, now: now() });
      return connection.id;
    },
    getLog: () => logText,
    /** Returns the store's whole content in its raw form. */
    async dumpStore(): Promise<string> {
      if (database === undefined) {
        const files = ["console.sqlite", "console.sqlite-wal"].map((name) => readFile(join(folder, name), "latin1"));
        return (await Promise.all(files)).join("\n");
      }
      const tables = await queryDatabase<{ name: string }>(
        database.url,
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
      );
      const rows = tables.map(({ name }) => queryDatabase<{ row: string }>(database.url, `SELECT t::text AS row FROM "${name}" t`));
      return (await Promise.all(rows)).flatMap((tableRows) => tableRows.map(({ row }) => row)).join("\n");
    },
    dispose: closeAfterwards(async () => {
      await console.stop();
      await database?.drop();
      if (dataDir === undefined) await rm(folder, { recursive: true, force: true });
    }),
  };
}
