// What an operator installs: the image by its Dockerfile's own steps, started as documented by a user who owns nothing but the data folder;
// behind nginx and Caddy with the examples unchanged except for names, ports and certificates. No engine is needed. The steps use the
// packages and the build of this project. One console serves all tests, and another one those below a path.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { validate } from "dockerfile-utils";
import { afterAll, expect, test, type TestContext } from "vitest";
import { WebSocket } from "ws";
import { createDoctorProof, PROOF_HEADER, SEEN_HEADER } from "@/lib/server/installation";
import { openEvents } from "@/tests/support/event-socket";
import { freePort } from "@/tests/support/free-port";
import { startNginx as runNginx } from "@/tests/support/nginx";
import { startReceiver } from "@/tests/support/otlp";
import { requireProgram } from "@/tests/support/program";
import { readScrape } from "@/tests/support/prometheus";
import { type StartedProcess, startProcess, startProgram } from "@/tests/support/start-process";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";
import { HOST_NAME, ORIGIN, sendRequest } from "./ask";
import { buildImage, readSteps } from "./image";
import { enter, MIB, ownerEmail, type Site, upload } from "./visitor";

const execute = promisify(execFile);
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const TOKEN = "a-token-of-the-metrics";
/** Only bounds a hang. */
const BOUND_MS = 300_000;
const own: Site = { host: HOST_NAME, base: "" };
const below: Site = { host: "example.com", base: "/desk" };

const steps = readSteps();
const folder = temporaryFolder();
const data = join(folder, "data");
const image = join(folder, "image");
const running: StartedProcess[] = [];

chmodSync(folder, 0o755);
mkdirSync(data);
if (isRoot) chownSync(data, NOBODY, NOBODY);
const env = await buildImage(steps, folder, image);
const port = await freePort();
const portBelow = await freePort();
const receiver = await startReceiver();
const desk = start("dist/console.mjs", {
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
const cookie = await enter(port, own, await desk.printed("Set up"));
afterAll(async () => {
  for (const item of running) await item.stop("SIGKILL");
  await receiver?.close();
});

test("has a lint-free Dockerfile with bases of one version", () => {
  expect(validate(readFileSync("Dockerfile", "utf8")).map(({ message }) => message)).toEqual([]);
  const bases = steps.filter(({ word }) => word === "FROM").map(({ rest }) => rest);
  for (const base of bases) expect(base).toMatch(/^node:\d+\.\d+\.\d+-/);
  expect(steps.findLast(({ word }) => word === "USER")?.rest).toBe("node");
  expect(JSON.parse(steps.findLast(({ word }) => word === "CMD")?.rest ?? "")).toEqual(["node", "dist/console.mjs"]);
});

test("contains no sources or dev tools and passes its own health check", async () => {
  const packages = readdirSync(join(image, "node_modules"));
  for (const name of ["typescript", "esbuild", "vitest", "eslint", "playwright", "lucide-react"]) expect(packages).not.toContain(name);
  expect(existsSync(join(image, "node_modules/@swc/core"))).toBe(false);
  expect(readdirSync(image).sort()).toEqual([".next", "bin", "dist", "lib", "next.config.js", "node_modules", "package.json", "public"]);
  const [, command = "[]"] = /CMD (\[.*\])$/s.exec(steps.find(({ word }) => word === "HEALTHCHECK")?.rest ?? "") ?? [];
  const [, ...words]: string[] = JSON.parse(command);
  // Rejects if the check ends with another code than 0.
  await execute(process.execPath, words, { env: { ...env, NODE_ENV: "production", PORT: String(port) } });
});

test("shows admins why the console is ready, others only whether", async () => {
  const plain = await sendRequest(port, "/api/health/ready");
  expect([plain.status, JSON.parse(plain.text)]).toEqual([200, { status: "ready" }]);
  const parts = ["store", "service", "disk", "key ring", "workers"].map((part) => ({ part, ready: true }));
  const readyResponse = await sendRequest(port, "/api/health/ready", { headers: { cookie } });
  expect(JSON.parse(readyResponse.text)).toEqual({ status: "ready", parts });
  const asToken = await sendRequest(port, "/api/health/ready", { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(JSON.parse(asToken.text)).toEqual({ status: "ready", parts });
  expect((await sendRequest(port, "/api/health/live", { headers: { host: "localhost" } })).status).toBe(200);
});

test("reports complete metrics and a span tree down to the service", async () => {
  expect((await sendRequest(port, "/api/jobs?limit=1", { headers: { cookie } })).status).toBe(200);
  expect((await sendRequest(port, "/jobs/0123-somebodys-job", { headers: { cookie } })).status).toBeLessThan(500);
  await sendRequest(port, "/api/jobs", { headers: { "x-api-key": "lightdesk_no-token-at-all" } });
  expect((await sendRequest(port, "/api/metrics")).status).toBe(401);
  const { text } = await sendRequest(port, "/api/metrics", { headers: { authorization: `Bearer ${TOKEN}` } });
  const { series } = readScrape(text);
  const getLabels = (name: string) => series.filter((series) => series.name === name).map(({ labels }) => labels);
  expect(getLabels("lightdesk_http_requests_total")).toContainEqual({ method: "GET", route: "/api/jobs", status: "200" });
  expect(getLabels("lightdesk_upstream_calls_total")).toContainEqual({ operation: "listJobs", outcome: "ok" });
  expect(getLabels("lightdesk_sign_in_refusals_total")).toContainEqual({ way: "token", reason: "wrong" });
  expect(getLabels("lightdesk_jobs")).toContainEqual({ state: "pending" });
  const names = [...new Set(series.map(({ name }) => name))];
  expect(names).toEqual(expect.arrayContaining(["lightdesk_ledger_waiting", "lightdesk_open_streams", "nodejs_eventloop_lag_seconds"]));
  for (const secret of [ownerEmail, "somebodys-job", HOST_NAME, folder]) expect(text, secret).not.toContain(secret);

  const board = readFileSync("docs/examples/grafana.json", "utf8");
  const metricNames = [...new Set([...board.matchAll(/\b(?:lightdesk|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name))];
  const source = readFileSync("lib/shared/metrics.ts", "utf8");
  const isKnown = (name: string) => names.includes(name) || source.includes(` ${name.replace(/_(bucket|sum|count)$/, "")}:`);
  expect(metricNames.filter((name) => !isKnown(name))).toEqual([]);
  expect(metricNames.length).toBeGreaterThan(12);

  const spans = await until("the call's span came", () => {
    const spans = receiver?.spans() ?? [];
    return spans.some(({ name }) => name === "call listJobs") && spans.some(({ name }) => name === "GET /api/jobs") && spans;
  });
  const call = spans.find(({ name }) => name === "call listJobs");
  const above = spans.find(({ spanId }) => spanId === call?.parentSpanId);
  expect([above?.name, above?.traceId]).toEqual(["GET /api/jobs", call?.traceId]);
  expect(call?.attributes).toEqual({ operation: "listJobs", outcome: "ok", status: 200 });
  for (const secret of [ownerEmail, "somebodys-job", HOST_NAME, "?limit"])
    expect(receiver?.texts().join("\n"), secret).not.toContain(secret);
});

const proxies = { nginx: startNginx, caddy: startCaddy };
type ProxyName = keyof typeof proxies;
const fronts = new Map<ProxyName, Promise<number>>();

/** The port of the proxy, which is started once. */
async function startProxy(name: ProxyName, context: TestContext): Promise<number> {
  const program = await requireProgram(name, context);
  const pendingFront = fronts.get(name) ?? startFront(name, program);
  fronts.set(name, pendingFront);
  return pendingFront;
}

async function startFront(name: ProxyName, program: string): Promise<number> {
  const front = await freePort();
  proxies[name](program, front);
  const exists = () =>
    sendRequest(front, "/api/health/live").then(
      ({ status }) => status === 200,
      () => false,
    );
  await until(`${name} answers`, exists);
  return front;
}

test.for(["nginx", "caddy"] as const)(
  "serves a page, 200 MB unbuffered and a WebSocket behind %s",
  { timeout: BOUND_MS },
  async (name, context) => {
    const front = await startProxy(name, context);
    const page = await sendRequest(front, "/jobs", { headers: { cookie } });
    expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    const proof = createDoctorProof(readFileSync(join(data, "auth-secret"), "utf8").trim(), Date.now());
    const echoedAddress = (await sendRequest(front, "/api/health", { headers: { [PROOF_HEADER]: proof } })).headers[SEEN_HEADER];
    expect(JSON.parse(decodeURIComponent(String(echoedAddress)))).toMatchObject({
      from: "127.0.0.1",
      client: "127.0.0.1",
      host: HOST_NAME,
    });

    const before = getMemory(desk.pid);
    const uploadResponse = await upload(front, own, cookie, { count: 200, piece: (n) => Buffer.alloc(MIB, front + n) });
    expect([uploadResponse.status, JSON.parse(uploadResponse.text).size]).toEqual([201, 200 * MIB]);
    expect(getMemory(desk.pid) - before).toBeLessThan(100 * MIB);

    const socket = new WebSocket(`ws://127.0.0.1:${front}/ws`, { headers: { host: HOST_NAME, origin: ORIGIN, cookie } });
    const [message] = await once(socket, "message");
    expect(JSON.parse(String(message))).toMatchObject({ type: "status" });
    socket.terminate();
  },
);

test.for(["nginx", "caddy"] as const)(
  "serves pages, large files and job events below a path behind %s",
  { timeout: BOUND_MS },
  async (name, context) => {
    const front = await startProxy(name, context);
    const headers = { host: below.host, cookie: await enterBelow() };
    const first = await sendRequest(front, "/desk/jobs", { headers });
    expect(first.status).toBe(200);
    const script = /\/desk\/_next\/static\/[^"\\]+\.js/.exec(first.text)?.[0] ?? "";
    expect((await sendRequest(front, script, { headers: { host: below.host } })).status, script).toBe(200);
    expect((await sendRequest(front, "/desk/api/health/ready", { headers: { host: below.host } })).text).toBe('{"status":"ready"}');

    const hash = createHash("sha256");
    const piece = (n: number) => {
      const bytes = createHash("shake256", { outputLength: MIB }).update(`${front} ${n}`).digest();
      hash.update(bytes);
      return bytes;
    };
    const uploadResponse = await upload(front, below, headers.cookie, { count: 20, piece });
    expect(uploadResponse.status, uploadResponse.text).toBe(201);
    const back = await sendRequest(front, `/desk/api/assets/${JSON.parse(uploadResponse.text).id}/content`, { headers });
    expect([back.status, back.bytes.length]).toEqual([200, 20 * MIB]);
    expect(createHash("sha256").update(back.bytes).digest("hex")).toBe(hash.digest("hex"));

    const events = await openEvents(`http://127.0.0.1:${front}/desk/ws`, { ...headers, origin: `http://${below.host}` });
    const run = await sendRequest(front, "/desk/api/prompt", { headers, json: { prompt: graph } });
    const { prompt_id: id }: { prompt_id: string } = JSON.parse(run.text);
    await events.over(id);
    expect(events.of(id).map(({ type }) => type)).toEqual(expect.arrayContaining(["execution_start", "executed", "execution_success"]));
    await events.close();
  },
);

test("is a valid unit for systemd", async (context) => {
  const program = await requireProgram("systemd-analyze", context);
  const unit = join(folder, "lightdesk.service");
  const text = readFileSync("docs/examples/lightdesk.service", "utf8");
  writeFileSync(unit, text.replace("/usr/bin/node", process.execPath).replace("/opt/lightdesk", image));
  // It also looks at what the unit names, and complaints about other units are not ours.
  const verified = execute(program, ["verify", unit]).catch((error: { stderr?: string }) => ({ stderr: error.stderr ?? "" }));
  const complaints = (await verified).stderr.split("\n").filter((line) => line.includes("lightdesk"));
  expect(complaints).toEqual([]);
});

test("writes only to the data folder in all these tests", () => {
  expect(desk.output()).not.toMatch(/EACCES|EROFS|EPERM/);
});

const graph = {
  "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 1 } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "below" } },
};

function start(script: string, settings: Record<string, string>): StartedProcess {
  const who = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const started = startProcess(script, settings, [], { cwd: image, ...who });
  running.push(started);
  return started;
}

let cookieBelow: Promise<string> | undefined;
/** An earlier check makes the build for the path. */
function enterBelow(): Promise<string> {
  const belowEnv = { PORT: String(portBelow), LIGHTDESK_DATA_DIR: join(folder, "below"), LIGHTDESK_BASE_PATH: below.base };
  const settings = { ...belowEnv, LIGHTDESK_PUBLIC_URL: `http://${below.host}${below.base}`, LIGHTDESK_TRUST_PROXY: "127.0.0.1" };
  return (cookieBelow ??= startBelow(settings));
}

async function startBelow(settings: Record<string, string>): Promise<string> {
  const started = startProcess("dist/console.mjs", settings);
  running.push(started);
  return enter(portBelow, below, await started.printed("Set up"));
}

function startNginx(program: string, front: number): void {
  running.push(runNginx(program, mkdtempSync(join(folder, "nginx-")), { front, consoles: [port], below: portBelow }));
}

function startCaddy(program: string, front: number): void {
  const caddyFolder = mkdtempSync(join(folder, "caddy-"));
  const example = readFileSync("docs/examples/Caddyfile", "utf8")
    .replace(/^desk\.example\.com/m, `http://desk.example.com:${front}`)
    .replace(/^example\.com/m, `http://example.com:${front}`)
    .replace("127.0.0.1:3000", `127.0.0.1:${port}`)
    .replace("127.0.0.1:3000", `127.0.0.1:${portBelow}`);
  writeFileSync(join(caddyFolder, "Caddyfile"), `{\n\tadmin off\n}\n${example}`);
  running.push(startProgram(program, ["run", "--config", join(caddyFolder, "Caddyfile")], caddyFolder));
}

/** The most memory that the process has held so far. */
function getMemory(pid: number): number {
  const [, kibibytes = "0"] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}
