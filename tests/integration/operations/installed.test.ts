// Runs the Dockerfile's steps without a container engine, with the packages and the build of this project. The console runs as a user who
// owns only the data folder, behind nginx and Caddy with the example configurations. Only their names, ports and certificates are replaced.
// One console serves most tests, and another one serves those with a base path.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { validate } from "dockerfile-utils";
import { afterAll, expect, test, type TestContext } from "vitest";
import { WebSocket } from "ws";
import { createDoctorProof, PROOF_HEADER, SEEN_REQUEST_HEADER } from "@/lib/server/installation";
import { openEventSocket } from "@/tests/support/event-socket";
import { findFreePort } from "@/tests/support/free-port";
import { startNginx as runNginx } from "@/tests/support/nginx";
import { startSpanReceiver } from "@/tests/support/otlp";
import { requireProgram } from "@/tests/support/program";
import { readScrape } from "@/tests/support/prometheus";
import { type StartedProcess, startProcess, startProgram } from "@/tests/support/start-process";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";
import { buildImage, readSteps } from "./dockerfile";
import { createOwnerAndSignIn, HOST_NAME, MIB, ORIGIN, ownerEmail, sendRequest, type Site, uploadFile } from "./fake-browser";

const execute = promisify(execFile);
const NOBODY_UID = 65_534;
const isRoot = process.getuid?.() === 0;
const TOKEN = "metrics-token-of-a-test";
/** Only stops a hanging test. */
const TEST_TIMEOUT_MS = 300_000;
const rootSite: Site = { host: HOST_NAME, base: "" };
const basePathSite: Site = { host: "example.com", base: "/desk" };

const steps = readSteps();
const folder = createTemporaryFolder();
const data = join(folder, "data");
const image = join(folder, "image");
const processes: StartedProcess[] = [];

chmodSync(folder, 0o755);
mkdirSync(data);
if (isRoot) chownSync(data, NOBODY_UID, NOBODY_UID);
const env = await buildImage(steps, folder, image);
const port = await findFreePort();
const basePathPort = await findFreePort();
const receiver = await startSpanReceiver();
const consoleProcess = start("dist/console.mjs", {
  ...env,
  // The console's user can't write there, as on a read-only root file system.
  TMPDIR: folder,
  HOST: "127.0.0.1",
  PORT: String(port),
  LIGHTDESK_DATA_DIR: data,
  LIGHTDESK_PUBLIC_URL: ORIGIN,
  LIGHTDESK_TRUST_PROXY: "127.0.0.1",
  LIGHTDESK_METRICS_TOKEN: TOKEN,
  ...receiver.settings,
});
const cookie = await createOwnerAndSignIn(port, rootSite, await consoleProcess.waitForOutput("Set up"));
afterAll(async () => {
  for (const item of processes) await item.stop("SIGKILL");
});

test("has a valid Dockerfile with pinned base images", () => {
  expect(validate(readFileSync("Dockerfile", "utf8")).map(({ message }) => message)).toEqual([]);
  const bases = steps.filter(({ instruction }) => instruction === "FROM").map(({ argument }) => argument);
  for (const base of bases) expect(base).toMatch(/^node:\d+\.\d+\.\d+-/);
  expect(steps.findLast(({ instruction }) => instruction === "USER")?.argument).toBe("node");
  expect(JSON.parse(steps.findLast(({ instruction }) => instruction === "CMD")?.argument ?? "")).toEqual(["node", "dist/console.mjs"]);
});

test("contains no sources or dev tools and passes its own health check", async () => {
  const packages = readdirSync(join(image, "node_modules"));
  for (const name of ["typescript", "esbuild", "vitest", "eslint", "playwright", "lucide-react"]) expect(packages).not.toContain(name);
  expect(existsSync(join(image, "node_modules/@swc/core"))).toBe(false);
  expect(readdirSync(image).sort()).toEqual([".next", "bin", "dist", "lib", "next.config.js", "node_modules", "package.json", "public"]);
  const [, command = "[]"] = /CMD (\[.*\])$/s.exec(steps.find(({ instruction }) => instruction === "HEALTHCHECK")?.argument ?? "") ?? [];
  const [, ...args]: string[] = JSON.parse(command);
  // Rejects if the check exits with a code other than 0.
  await execute(process.execPath, args, { env: { ...env, NODE_ENV: "production", PORT: String(port) } });
});

test("shows readiness details only to admins and with the metrics token", async () => {
  const publicResponse = await sendRequest(port, "/api/health/ready");
  expect([publicResponse.status, JSON.parse(publicResponse.text)]).toEqual([200, { status: "ready" }]);
  const parts = ["store", "service", "disk", "key ring", "workers"].map((part) => ({ part, ready: true }));
  const readyResponse = await sendRequest(port, "/api/health/ready", { headers: { cookie } });
  expect(JSON.parse(readyResponse.text)).toEqual({ status: "ready", parts });
  const tokenResponse = await sendRequest(port, "/api/health/ready", { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(JSON.parse(tokenResponse.text)).toEqual({ status: "ready", parts });
  expect((await sendRequest(port, "/api/health/live", { headers: { host: "localhost" } })).status).toBe(200);
});

test("reports all metrics and traces a request down to the service call", async () => {
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

  const dashboard = readFileSync("docs/examples/grafana.json", "utf8");
  const metricNames = [...new Set([...dashboard.matchAll(/\b(?:lightdesk|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name))];
  const source = readFileSync("lib/shared/metrics.ts", "utf8");
  const isKnown = (name: string) => names.includes(name) || source.includes(` ${name.replace(/_(bucket|sum|count)$/, "")}:`);
  expect(metricNames.filter((name) => !isKnown(name))).toEqual([]);
  expect(metricNames.length).toBeGreaterThan(12);

  const spans = await until("the call's span arrives", () => {
    const spans = receiver.getSpans();
    return spans.some(({ name }) => name === "call listJobs") && spans.some(({ name }) => name === "GET /api/jobs") && spans;
  });
  const call = spans.find(({ name }) => name === "call listJobs");
  const parentSpan = spans.find(({ spanId }) => spanId === call?.parentSpanId);
  expect([parentSpan?.name, parentSpan?.traceId]).toEqual(["GET /api/jobs", call?.traceId]);
  expect(call?.attributes).toEqual({ operation: "listJobs", outcome: "ok", status: 200 });
  for (const secret of [ownerEmail, "somebodys-job", HOST_NAME, "?limit"])
    expect(receiver.getTexts().join("\n"), secret).not.toContain(secret);
});

const proxies = { nginx: startNginx, caddy: startCaddy };
type ProxyName = keyof typeof proxies;
const proxyPorts = new Map<ProxyName, Promise<number>>();

/** Starts the proxy once and returns its port. */
async function startProxy(name: ProxyName, context: TestContext): Promise<number> {
  const program = await requireProgram(name, context);
  const pendingPort = proxyPorts.get(name) ?? startProxyProgram(name, program);
  proxyPorts.set(name, pendingPort);
  return pendingPort;
}

async function startProxyProgram(name: ProxyName, program: string): Promise<number> {
  const proxyPort = await findFreePort();
  proxies[name](program, proxyPort);
  const isReady = () =>
    sendRequest(proxyPort, "/api/health/live").then(
      ({ status }) => status === 200,
      () => false,
    );
  await until(`${name} responds`, isReady);
  return proxyPort;
}

test.for(["nginx", "caddy"] as const)(
  "serves a page, an unbuffered 200 MB upload and a WebSocket behind %s",
  { timeout: TEST_TIMEOUT_MS },
  async (name, context) => {
    const proxyPort = await startProxy(name, context);
    const page = await sendRequest(proxyPort, "/jobs", { headers: { cookie } });
    expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    const proof = createDoctorProof(readFileSync(join(data, "auth-secret"), "utf8").trim(), Date.now());
    const echoedAddress = (await sendRequest(proxyPort, "/api/health", { headers: { [PROOF_HEADER]: proof } })).headers[
      SEEN_REQUEST_HEADER
    ];
    expect(JSON.parse(decodeURIComponent(String(echoedAddress)))).toMatchObject({
      from: "127.0.0.1",
      client: "127.0.0.1",
      host: HOST_NAME,
    });

    const before = getPeakMemoryBytes(consoleProcess.pid);
    const uploadResponse = await uploadFile(proxyPort, rootSite, cookie, { count: 200, piece: (n) => Buffer.alloc(MIB, proxyPort + n) });
    expect([uploadResponse.status, JSON.parse(uploadResponse.text).size]).toEqual([201, 200 * MIB]);
    expect(getPeakMemoryBytes(consoleProcess.pid) - before).toBeLessThan(100 * MIB);

    const socket = new WebSocket(`ws://127.0.0.1:${proxyPort}/ws`, { headers: { host: HOST_NAME, origin: ORIGIN, cookie } });
    const [message] = await once(socket, "message");
    expect(JSON.parse(String(message))).toMatchObject({ type: "status" });
    socket.terminate();
  },
);

test.for(["nginx", "caddy"] as const)(
  "serves pages, large files and job events with a base path behind %s",
  { timeout: TEST_TIMEOUT_MS },
  async (name, context) => {
    const proxyPort = await startProxy(name, context);
    const headers = { host: basePathSite.host, cookie: await signInAtBasePath() };
    const pageResponse = await sendRequest(proxyPort, "/desk/jobs", { headers });
    expect(pageResponse.status).toBe(200);
    const script = /\/desk\/_next\/static\/[^"\\]+\.js/.exec(pageResponse.text)?.[0] ?? "";
    expect((await sendRequest(proxyPort, script, { headers: { host: basePathSite.host } })).status, script).toBe(200);
    expect((await sendRequest(proxyPort, "/desk/api/health/ready", { headers: { host: basePathSite.host } })).text).toBe(
      '{"status":"ready"}',
    );

    const hash = createHash("sha256");
    const piece = (n: number) => {
      const bytes = createHash("shake256", { outputLength: MIB }).update(`${proxyPort} ${n}`).digest();
      hash.update(bytes);
      return bytes;
    };
    const uploadResponse = await uploadFile(proxyPort, basePathSite, headers.cookie, { count: 20, piece });
    expect(uploadResponse.status, uploadResponse.text).toBe(201);
    const contentResponse = await sendRequest(proxyPort, `/desk/api/assets/${JSON.parse(uploadResponse.text).id}/content`, { headers });
    expect([contentResponse.status, contentResponse.bytes.length]).toEqual([200, 20 * MIB]);
    expect(createHash("sha256").update(contentResponse.bytes).digest("hex")).toBe(hash.digest("hex"));

    const events = await openEventSocket(`http://127.0.0.1:${proxyPort}/desk/ws`, { ...headers, origin: `http://${basePathSite.host}` });
    const runResponse = await sendRequest(proxyPort, "/desk/api/prompt", { headers, json: { prompt: graph } });
    const { prompt_id: id }: { prompt_id: string } = JSON.parse(runResponse.text);
    await events.waitForEnd(id);
    expect(events.getMessages(id).map(({ type }) => type)).toEqual(
      expect.arrayContaining(["execution_start", "executed", "execution_success"]),
    );
    await events.close();
  },
);

test("has a valid systemd unit", async (context) => {
  const program = await requireProgram("systemd-analyze", context);
  const unit = join(folder, "lightdesk.service");
  const text = readFileSync("docs/examples/lightdesk.service", "utf8");
  writeFileSync(unit, text.replace("/usr/bin/node", process.execPath).replace("/opt/lightdesk", image));
  // systemd-analyze also checks other units, whose messages are ignored.
  const verification = execute(program, ["verify", unit]).catch((error: { stderr?: string }) => ({ stderr: error.stderr ?? "" }));
  const complaints = (await verification).stderr.split("\n").filter((line) => line.includes("lightdesk"));
  expect(complaints).toEqual([]);
});

test("writes only to the data folder in all these tests", () => {
  expect(consoleProcess.output()).not.toMatch(/EACCES|EROFS|EPERM/);
});

const graph = {
  "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 1 } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "below" } },
};

function start(script: string, settings: Record<string, string>): StartedProcess {
  const userOptions = isRoot ? { uid: NOBODY_UID, gid: NOBODY_UID } : {};
  const child = startProcess(script, settings, [], { cwd: image, ...userOptions });
  processes.push(child);
  return child;
}

let basePathCookie: Promise<string> | undefined;
/** An earlier check creates the build for the base path. */
function signInAtBasePath(): Promise<string> {
  const environment = { PORT: String(basePathPort), LIGHTDESK_DATA_DIR: join(folder, "below"), LIGHTDESK_BASE_PATH: basePathSite.base };
  const settings = {
    ...environment,
    LIGHTDESK_PUBLIC_URL: `http://${basePathSite.host}${basePathSite.base}`,
    LIGHTDESK_TRUST_PROXY: "127.0.0.1",
  };
  return (basePathCookie ??= startBasePathConsole(settings));
}

async function startBasePathConsole(settings: Record<string, string>): Promise<string> {
  const child = startProcess("dist/console.mjs", settings);
  processes.push(child);
  return createOwnerAndSignIn(basePathPort, basePathSite, await child.waitForOutput("Set up"));
}

function startNginx(program: string, front: number): void {
  processes.push(runNginx(program, mkdtempSync(join(folder, "nginx-")), { listenPort: front, consoles: [port], basePathPort }));
}

function startCaddy(program: string, proxyPort: number): void {
  const caddyFolder = mkdtempSync(join(folder, "caddy-"));
  const example = readFileSync("docs/examples/Caddyfile", "utf8")
    .replace(/^desk\.example\.com/m, `http://desk.example.com:${proxyPort}`)
    .replace(/^example\.com/m, `http://example.com:${proxyPort}`)
    .replace("127.0.0.1:3000", `127.0.0.1:${port}`)
    .replace("127.0.0.1:3000", `127.0.0.1:${basePathPort}`);
  writeFileSync(join(caddyFolder, "Caddyfile"), `{\n\tadmin off\n}\n${example}`);
  processes.push(startProgram(program, ["run", "--config", join(caddyFolder, "Caddyfile")], caddyFolder));
}

/** Returns the peak memory of the process in bytes. */
function getPeakMemoryBytes(pid: number): number {
  const [, kibibytes = "0"] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}
