// The stand-alone service and its commands (`usage`). The commands also work while the service runs.
import { type IncomingMessage } from "node:http";
import { join } from "node:path";
import { getRequestListener, RequestError } from "@hono/node-server";
import pino from "pino";
import { allOperations } from "@/lib/contract/operations";
import { type ServiceRunners } from "@/lib/contract/runners/runners";
import { createEventSockets } from "@/lib/http/event-sockets";
import { createOperatorRoutes, operatorPaths } from "@/lib/http/operator-routes";
import { escapeDots, getHosts } from "@/lib/http/request-line";
import { createRequestNamer } from "@/lib/http/routes";
import { createHttpServer, readIncomingBody, stopOnSignals } from "@/lib/http/server";
import { describeUnknownSettings } from "@/lib/server/env";
import { copyBlobs, createService, openServiceStore, type Service, type ServiceKeys } from "@/lib/service/index";
import { readServiceEnv, type ServiceEnv } from "@/lib/service/settings";
import { parseBearer } from "@/lib/shared/headers";
import { type FeedAdmission } from "@/lib/shared/http-types";
import { getTelemetry } from "@/lib/shared/telemetry";
import { formatCount } from "@/lib/shared/text";
import { startTelemetry } from "./telemetry";

/** Less than the 30 seconds after which most supervisors kill a process. */
const CLOSE_GRACE_MS = 10_000;
const STOP_TIMEOUT_MS = 50_000;

const MAX_CLIENT_ID_LENGTH = 200;
const PROGRESS_INTERVAL_MS = 5000;
const MAX_LISTED_HASHES = 20;

const extraPaths = ["/api/health", "/api/openapi.json"];

const usage = `Commands: copy-blobs --to TARGET | keys create --user NAME | keys list | keys revoke PREFIX | users set-status NAME active|waitlisted
  runners list | runners add ADDRESS [--label LABEL] [--slots N] | runners pause|drain|resume|remove RUNNER (its label, address or id)`;

async function main(): Promise<void> {
  const parsedEnv = readServiceEnv(process.env);
  for (const warning of describeUnknownSettings()) process.stderr.write(`${warning}\n`);
  if (!parsedEnv.ok) return fail(parsedEnv.problems.join("\n"));
  const dataDir = join(parsedEnv.env.dataDir, "service");
  const args = process.argv.slice(2);
  if (args.length === 0) return serve(parsedEnv.env, dataDir);
  if (args[0] === "copy-blobs") return copyAllBlobs(parsedEnv.env, dataDir, args.slice(1));
  const store = await openServiceStore(dataDir, parsedEnv.env.settings);
  try {
    if (args[0] === "runners") await runRunnersCommand(store.runners, args.slice(1));
    else await runCommand(store.keys, args);
  } finally {
    await store.close();
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function runCommand(keys: ServiceKeys, args: string[]): Promise<void> {
  const [subject, action, firstArg, secondArg] = args;
  if (subject === "keys" && action === "create" && firstArg === "--user" && secondArg) {
    const { key, prefix } = await keys.createKey(secondArg);
    print(`Key ${prefix} for ${secondArg}, shown only once:`);
    print(key);
  } else if (subject === "keys" && action === "list") {
    for (const keyListing of await keys.listKeys()) {
      const createdAt = new Date(keyListing.createdAtMs).toISOString();
      print(
        `${keyListing.prefix}  ${keyListing.userName} (${keyListing.userStatus})  created ${createdAt}${keyListing.revokedAtMs ? `  revoked ${new Date(keyListing.revokedAtMs).toISOString()}` : ""}`,
      );
    }
  } else if (subject === "keys" && action === "revoke" && firstArg) {
    if (!(await keys.revokeKey(firstArg))) return fail(`No active key has the prefix ${firstArg}. See: keys list`);
    print(`Revoked ${firstArg}.`);
  } else if (subject === "users" && action === "set-status" && firstArg && (secondArg === "active" || secondArg === "waitlisted")) {
    if (!(await keys.setUserStatus(firstArg, secondArg))) return fail(`There is no user ${firstArg}.`);
    print(`${firstArg} is ${secondArg}.`);
  } else fail(usage);
}

async function runRunnersCommand(runners: ServiceRunners, [action, name, ...options]: string[]): Promise<void> {
  if (action === "list" && name === undefined) {
    for (const { id, label, address, state, reason, slots, running, done, failed } of await runners.list())
      print(
        `${id}  ${label}  ${address ?? "in this service"}  ${state}${reason ? ` (${reason.message})` : ""}  runs ${running} of ${slots}  done ${done}  failed ${failed}`,
      );
    return;
  }
  if (action === "add" && name !== undefined) {
    const { label, slots } = readOptions(options);
    const result = await runners.add({
      address: name,
      ...(label !== undefined && { label }),
      ...(slots !== undefined && { slots: Number(slots) }),
    });
    if (!result.ok) return fail(result.failure.message);
    return print(`Added ${result.value.label} with ${result.value.classes} node classes. A running service uses it at once.`);
  }
  const state = action === "pause" ? "paused" : action === "drain" ? "draining" : action === "resume" ? "ready" : undefined;
  if ((state === undefined && action !== "remove") || name === undefined) return fail(usage);
  const runner = (await runners.list()).find(({ id, label, address }) => [id, label, address].includes(name));
  if (!runner) return fail(`There is no runner ${name}. See: runners list`);
  const outcome = state === undefined ? await runners.remove(runner.id) : await runners.change(runner.id, { state });
  if (!outcome.ok) return fail(outcome.failure.message);
  print(outcome.value === undefined ? `Removed ${runner.label}.` : `${outcome.value.label} is ${outcome.value.state.replace("_", " ")}.`);
}

function readOptions(args: readonly string[]): { label?: string | undefined; slots?: string | undefined } {
  const getOption = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
  return { label: getOption("--label"), slots: getOption("--slots") };
}

async function copyAllBlobs({ settings }: ServiceEnv, dataDir: string, [option, to]: string[]): Promise<void> {
  if (option !== "--to" || to === undefined) return fail("copy-blobs --to s3://BUCKET/PREFIX?… | /FOLDER | data-folder");
  const log = pino({ level: "error" }, pino.destination({ dest: 2, sync: true }));
  let lastShownMs = performance.now();
  const onProgress = (done: number, total: number) => {
    if (performance.now() - lastShownMs < PROGRESS_INTERVAL_MS) return;
    lastShownMs = performance.now();
    process.stderr.write(`${done} of ${total} files\n`);
  };
  const { files, copied, missing, damaged, nextStep } = await copyBlobs({ dataDir, settings, to, log, onProgress });
  process.stdout.write(`${formatCount(files, "file")}, ${copied} copied now; the others existed. Every copy was verified by its hash.\n`);
  if (missing.length > 0) fail(`${formatCount(missing.length, "file is", "files are")} missing at the source: ${listHashes(missing)}`);
  if (damaged.length > 0)
    fail(`${formatCount(damaged.length, "file is", "files are")} missing or damaged at the target: ${listHashes(damaged)}`);
  if (nextStep !== undefined) fail(nextStep);
}

function listHashes(hashes: readonly string[]): string {
  return hashes.slice(0, MAX_LISTED_HASHES).join(", ") + (hashes.length > MAX_LISTED_HASHES ? " and others" : "");
}

async function serve(env: ServiceEnv, dataDir: string): Promise<void> {
  const root = process.cwd();
  await startTelemetry(env.settings, "lightdesk-service");
  const service = createService({
    dataDir,
    shippedImagesDir: join(root, "public", "samples"),
    workerPath: join(root, "dist", "node-worker.mjs"),
    publicUrl: env.publicUrl,
    ...env.settings,
    log: pino({ level: "warn" }, pino.destination({ dest: 2, sync: true })),
  });
  const listener = getRequestListener((request, { incoming, outgoing }) => service.fetch(request, readIncomingBody(incoming, outgoing)), {
    errorHandler: handleError,
  });
  const { requestTimeoutMs, connectionsPerAddress } = env.settings;
  const sockets = createEventSockets((request) => authorize(service, request));
  const upgrades = { "/ws": sockets.handler, "/api/ws": sockets.handler };
  const bounds = { headersTimeoutMs: requestTimeoutMs, connectionsPerAddress };
  const nameContractRequest = createRequestNamer([...operatorPaths, ...extraPaths, ...allOperations.map(({ path }) => path)]);
  const nameRequest: typeof nameContractRequest = ({ method, url = "/" }) => nameContractRequest({ method, url: addApiPrefix(url) });
  const handleOperator = createOperatorRoutes({ token: env.settings.metricsToken, getReadiness: () => service.readiness });
  const server = createHttpServer({ ...bounds, hosts: getHosts(env), isPage: () => false, upgrades, nameRequest }, (request, response) => {
    request.url = escapeDots(addApiPrefix(request.url ?? "/"));
    if (handleOperator(request, response)) return;
    void listener(request, response);
  });
  let startup = Promise.resolve();
  stopOnSignals(async () => {
    sockets.close();
    await server.close(CLOSE_GRACE_MS);
    // A failed start is reported below.
    await startup.catch(() => undefined);
    await service.stop();
    await getTelemetry().traces?.stop();
  }, STOP_TIMEOUT_MS);
  // Listens first, so that a second start fails at once, before it waits for locks and sweeps.
  const port = await server.listen(env.port, env.host);
  startup = service.start();
  await startup;
  const host = env.host === "0.0.0.0" || env.host === "::" ? "127.0.0.1" : env.host;
  process.stdout.write(`Service: ${env.publicUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`}\n`);
}

/** ComfyUI clients omit /api. The key is checked before a path is reported as unknown. */
function addApiPrefix(path: string): string {
  return path.startsWith("/") && !/^\/api(\/|\?|$)/.test(path) ? `/api${path}` : path;
}

/** Browsers cannot send headers with a WebSocket, so the key may be in the URL. */
async function authorize(service: Service, request: IncomingMessage): Promise<FeedAdmission> {
  const { searchParams } = new URL(request.url ?? "", "http://localhost");
  const header = request.headers["x-api-key"];
  const bearer = parseBearer(request.headers.authorization);
  const key = (typeof header === "string" ? header : (bearer ?? searchParams.get("token") ?? "")).trim();
  const clientId = searchParams.get("clientId")?.slice(0, MAX_CLIENT_ID_LENGTH) || undefined;
  const user = await service.findUserName(key);
  const message = "A valid API key is required: X-API-Key: KEY, Authorization: Bearer KEY, or ?token=KEY.";
  if (user === undefined) return { ok: false, error: { status: 401, code: "UNAUTHORIZED", message } };
  return { ok: true, owner: user, open: ({ send }) => service.subscribe(key, clientId, send) };
}

/** For URLs that Request rejects, such as a backslash in the path. */
function handleError(error: unknown): Response {
  const [status, code, message] =
    error instanceof RequestError
      ? [400, "BAD_REQUEST", "The URL is invalid."]
      : [500, "INTERNAL", "The service failed to process this request."];
  return Response.json({ code, message }, { status, headers: { connection: "close" } });
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

main().catch((error: unknown) => {
  const isPortInUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  fail(isPortInUse ? "PORT must be a free port (another process uses it)." : error instanceof Error ? error.message : String(error));
  process.exit(1);
});
