// What an operator installs: the image by its Dockerfile's own steps, started as documented by a user who owns nothing but the data folder;
// behind nginx and Caddy with the examples unchanged except for names, ports and certificates. No engine is needed. The steps use the
// packages and the build of this project. One console serves all tests, and another one those below a path.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { validate } from "dockerfile-utils";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { findOrInstall } from "@/bin/browser.mjs";
import { ask, HOST_NAME, ORIGIN } from "./ask";
import { buildImage, readSteps } from "./image";
import { freePort } from "@/tests/support/free-port";
import { startNginx as runNginx } from "@/tests/support/nginx";
import { startReceiver } from "@/tests/support/otlp";
import { readScrape } from "@/tests/support/prometheus";
import { type Started, startProcess, startProgram } from "@/tests/support/start-process";
import { until } from "@/tests/support/until";

const execute = promisify(execFile);
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const TOKEN = "a-token-of-the-metrics";
/** Only bounds a hang. */
const BOUND_MS = 300_000;
const owner = { name: "Ada Owner", email: "ada@example.com", password: "correct horse battery" };

const steps = readSteps();
const folder = mkdtempSync(join(tmpdir(), "lightdesk-image-"));
const data = join(folder, "data");
const image = join(folder, "image");
let env: Record<string, string>;

let port: number;
let portBelow: number;
let desk: Started;
let cookie: string;
let receiver: Awaited<ReturnType<typeof startReceiver>> | undefined;
const running: Started[] = [];

beforeAll(async () => {
  chmodSync(folder, 0o755);
  mkdirSync(data);
  if (isRoot) chownSync(data, NOBODY, NOBODY);
  env = await buildImage(steps, folder, image);
  port = await freePort();
  portBelow = await freePort();
  receiver = await startReceiver();
  desk = start("dist/console.mjs", {
    ...env,
    // Its user cannot write there, as on a read-only root file system.
    TMPDIR: folder,
    HOST: "127.0.0.1",
    PORT: String(port),
    LIGHTDESK_DATA_DIR: data,
    LIGHTDESK_PUBLIC_URL: ORIGIN,
    LIGHTDESK_TRUST_PROXY: "127.0.0.1",
    LIGHTDESK_METRICS_TOKEN: TOKEN,
    ...receiver.settings,
  });
  const link = new URL(await desk.printed("Set up"));
  const token = link.searchParams.get("token");
  expect((await ask(port, "/api/console/set-up", { json: { token, ...owner } })).status).toBe(201);
  cookie = await signIn();
}, BOUND_MS);
afterAll(async () => {
  for (const one of running) await one.stop("SIGKILL");
  await receiver?.close();
  rmSync(folder, { recursive: true, force: true });
});

test("the Dockerfile has no fault that a linter knows, and every base is of one version", () => {
  expect(validate(readFileSync("Dockerfile", "utf8")).map(({ message }) => message)).toEqual([]);
  const bases = steps.filter(({ word }) => word === "FROM").map(({ rest }) => rest);
  for (const base of bases) expect(base).toMatch(/^node:\d+\.\d+\.\d+-/);
  expect(steps.findLast(({ word }) => word === "USER")?.rest).toBe("node");
  expect(JSON.parse(steps.findLast(({ word }) => word === "CMD")?.rest ?? "")).toEqual(["node", "dist/console.mjs"]);
});

test("the image holds no source, no compiler and nothing that only development has, and is healthy by its own check", async () => {
  const packages = readdirSync(join(image, "node_modules"));
  for (const name of ["typescript", "esbuild", "vitest", "eslint", "playwright", "lucide-react"]) expect(packages).not.toContain(name);
  expect(existsSync(join(image, "node_modules/@swc/core"))).toBe(false);
  expect(readdirSync(image).sort()).toEqual([".next", "bin", "dist", "next.config.js", "node_modules", "package.json", "public"]);
  const [, command = "[]"] = /CMD (\[.*\])$/s.exec(steps.find(({ word }) => word === "HEALTHCHECK")?.rest ?? "") ?? [];
  const [, ...words]: string[] = JSON.parse(command);
  // Rejects if the check ends with another code than 0.
  await execute(process.execPath, words, { env: { ...env, NODE_ENV: "production", PORT: String(port) } });
});

test("an admin sees why the console is ready or not, others only whether", async () => {
  const plain = await ask(port, "/api/health/ready");
  expect([plain.status, JSON.parse(plain.text)]).toEqual([200, { status: "ready" }]);
  const parts = ["store", "service", "disk", "key ring", "workers"].map((part) => ({ part, ready: true }));
  const shown = await ask(port, "/api/health/ready", { headers: { cookie } });
  expect(JSON.parse(shown.text)).toEqual({ status: "ready", parts });
  const asToken = await ask(port, "/api/health/ready", { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(JSON.parse(asToken.text)).toEqual({ status: "ready", parts });
  expect((await ask(port, "/api/health/live", { headers: { host: "localhost" } })).status).toBe(200);
});

test("its metrics are whole, and a request is a tree of spans down to the call to its service", async () => {
  expect((await ask(port, "/api/jobs?limit=1", { headers: { cookie } })).status).toBe(200);
  expect((await ask(port, "/jobs/0123-somebodys-job", { headers: { cookie } })).status).toBeLessThan(500);
  await ask(port, "/api/jobs", { headers: { "x-api-key": "lightdesk_no-token-at-all" } });
  expect((await ask(port, "/api/metrics")).status).toBe(401);
  const { text } = await ask(port, "/api/metrics", { headers: { authorization: `Bearer ${TOKEN}` } });
  const { series } = readScrape(text);
  const labelsOf = (name: string) => series.filter((one) => one.name === name).map(({ labels }) => labels);
  expect(labelsOf("lightdesk_http_requests_total")).toContainEqual({ method: "GET", route: "/api/jobs", status: "200" });
  expect(labelsOf("lightdesk_upstream_calls_total")).toContainEqual({ operation: "listJobs", outcome: "ok" });
  expect(labelsOf("lightdesk_sign_in_refusals_total")).toContainEqual({ way: "token", reason: "wrong" });
  expect(labelsOf("lightdesk_jobs")).toContainEqual({ state: "pending" });
  const names = [...new Set(series.map(({ name }) => name))];
  expect(names).toEqual(expect.arrayContaining(["lightdesk_ledger_waiting", "lightdesk_open_streams", "nodejs_eventloop_lag_seconds"]));
  for (const said of [owner.email, "somebodys-job", HOST_NAME, folder]) expect(text, said).not.toContain(said);

  const board = readFileSync("docs/examples/grafana.json", "utf8");
  const asked = [...new Set([...board.matchAll(/\b(?:lightdesk|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name))];
  const told = readFileSync("lib/shared/metrics.ts", "utf8");
  const isThere = (name: string) => names.includes(name) || told.includes(` ${name.replace(/_(bucket|sum|count)$/, "")}:`);
  expect(asked.filter((name) => !isThere(name))).toEqual([]);
  expect(asked.length).toBeGreaterThan(12);

  const spans = await until("the call's span came", () => {
    const found = receiver?.spans() ?? [];
    return found.some(({ name }) => name === "call listJobs") && found.some(({ name }) => name === "GET /api/jobs") && found;
  });
  const call = spans.find(({ name }) => name === "call listJobs");
  const above = spans.find(({ spanId }) => spanId === call?.parentSpanId);
  expect([above?.name, above?.traceId]).toEqual(["GET /api/jobs", call?.traceId]);
  expect(call?.attributes).toEqual({ operation: "listJobs", outcome: "ok", status: 200 });
  for (const said of [owner.email, "somebodys-job", HOST_NAME, "?limit"]) expect(receiver?.texts().join("\n"), said).not.toContain(said);
});

const proxies = { nginx: { from: "nginx-light", start: startNginx }, caddy: { from: "caddy", start: startCaddy } };
type ProxyName = keyof typeof proxies;
const fronts = new Map<ProxyName, Promise<number | undefined>>();

/** The port of the proxy, which is started once; undefined if the program is not here and could not be installed. */
function frontOf(name: ProxyName): Promise<number | undefined> {
  const { from, start: startProxy } = proxies[name];
  const found =
    fronts.get(name) ??
    findOrInstall(name, from).then(async (program) => {
      if (program === undefined) return undefined;
      const front = await freePort();
      startProxy(program, front);
      const isThere = () =>
        ask(front, "/api/health/live").then(
          ({ status }) => status === 200,
          () => false,
        );
      await until(`${name} answers`, isThere);
      return front;
    });
  fronts.set(name, found);
  return found;
}

test.for(["nginx", "caddy"] as const)(
  "behind %s with its example: a page, 200 MB that nobody holds in memory, and a WebSocket",
  { timeout: BOUND_MS },
  async (name, { skip }) => {
    const front = await frontOf(name);
    if (front === undefined) return skip(`${name} is not here and could not be installed`);
    const page = await ask(front, "/jobs", { headers: { cookie } });
    expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);

    const before = memoryOf(desk.pid);
    const uploaded = await upload(front, 200);
    expect([uploaded.status, JSON.parse(uploaded.text).size]).toEqual([201, 200 * MIB]);
    expect(memoryOf(desk.pid) - before).toBeLessThan(100 * MIB);

    const socket = new WebSocket(`ws://127.0.0.1:${front}/ws`, { headers: { host: HOST_NAME, origin: ORIGIN, cookie } });
    const [message] = await once(socket, "message");
    expect(JSON.parse(String(message))).toMatchObject({ type: "status" });
    socket.terminate();
  },
);

test.for(["nginx", "caddy"] as const)(
  "behind %s with its example: a console below a path of another site",
  { timeout: BOUND_MS },
  async (name, { skip }) => {
    const front = await frontOf(name);
    if (front === undefined) return skip(`${name} is not here and could not be installed`);
    await startBelow();
    const there = { host: "example.com" };
    const first = await ask(front, "/desk/set-up", { headers: there });
    expect(first.status).toBe(200);
    const script = /\/desk\/_next\/static\/[^"\\]+\.js/.exec(first.text)?.[0] ?? "";
    expect((await ask(front, script, { headers: there })).status, script).toBe(200);
    expect((await ask(front, "/desk/api/health/ready", { headers: there })).text).toBe('{"status":"ready"}');
  },
);

test("the systemd unit is one that systemd understands", async () => {
  const unit = join(folder, "lightdesk.service");
  const text = readFileSync("docs/examples/lightdesk.service", "utf8");
  writeFileSync(unit, text.replace("/usr/bin/node", process.execPath).replace("/opt/lightdesk", image));
  // Without systemd no unit is used here, and complaints about other units are not ours.
  const verified = execute("systemd-analyze", ["verify", unit]).catch((error: { stderr?: string }) => ({ stderr: error.stderr ?? "" }));
  const complaints = (await verified).stderr.split("\n").filter((line) => line.includes("lightdesk"));
  expect(complaints).toEqual([]);
});

test("all that was asked of it needed no place to write but the data folder", () => {
  expect(desk.output()).not.toMatch(/EACCES|EROFS|EPERM/);
});

const MIB = 1024 ** 2;

function start(script: string, settings: Record<string, string>): Started {
  const who = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const started = startProcess(script, settings, [], { cwd: image, ...who });
  running.push(started);
  return started;
}

let belowPath: Promise<string> | undefined;
/** An earlier test makes the build for the path. */
function startBelow(): Promise<string> {
  const place = { PORT: String(portBelow), LIGHTDESK_DATA_DIR: join(folder, "below"), LIGHTDESK_BASE_PATH: "/desk" };
  if (belowPath) return belowPath;
  const started = startProcess("dist/console.mjs", { ...place, LIGHTDESK_PUBLIC_URL: "http://example.com/desk" });
  running.push(started);
  return (belowPath = started.printed("Set up"));
}

function startNginx(program: string, front: number): void {
  running.push(runNginx(program, mkdtempSync(join(folder, "nginx-")), { front, consoles: [port], below: portBelow }));
}

function startCaddy(program: string, front: number): void {
  const own = mkdtempSync(join(folder, "caddy-"));
  const example = readFileSync("docs/examples/Caddyfile", "utf8")
    .replace(/^desk\.example\.com/m, `http://desk.example.com:${front}`)
    .replace(/^example\.com/m, `http://example.com:${front}`)
    .replace("127.0.0.1:3000", `127.0.0.1:${port}`)
    .replace("127.0.0.1:3000", `127.0.0.1:${portBelow}`);
  writeFileSync(join(own, "Caddyfile"), `{\n\tadmin off\n}\n${example}`);
  running.push(startProgram(program, ["run", "--config", join(own, "Caddyfile")], own));
}

async function signIn(): Promise<string> {
  const cookieOf = ({ headers }: { headers: IncomingHttpHeaders }) =>
    (headers["set-cookie"] ?? []).map((one) => one.split(";")[0]).join("; ");
  const begun = await ask(port, "/api/auth/csrf");
  const { csrfToken }: { csrfToken: string } = JSON.parse(begun.text);
  const form = { csrfToken, email: owner.email, password: owner.password, json: "true" };
  const done = await ask(port, "/api/auth/callback/credentials", { form, headers: { cookie: cookieOf(begun) } });
  expect(done.status, done.text).toBe(200);
  return cookieOf(done);
}

/** Generated while it is sent, with a different content for each proxy. */
function upload(at: number, mebibytes: number) {
  const edge = "a-boundary";
  const head = Buffer.from(
    `--${edge}\r\ncontent-disposition: form-data; name="file"; filename="${at}.bin"\r\ncontent-type: application/octet-stream\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${edge}--\r\n`);
  function* pieces() {
    yield head;
    for (let count = 0; count < mebibytes; count += 1) yield Buffer.alloc(MIB, at + count);
    yield tail;
  }
  const length = head.length + mebibytes * MIB + tail.length;
  return ask(at, "/api/assets", { headers: { cookie }, body: { type: `multipart/form-data; boundary=${edge}`, length, pieces: pieces() } });
}

/** The most memory that the process has held so far. */
function memoryOf(pid: number): number {
  const [, kibibytes = "0"] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}
