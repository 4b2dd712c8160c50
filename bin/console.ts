// The console's HTTP server around Next. It has its own sockets, so that a shutdown can complete requests.
import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { PHASE_PRODUCTION_SERVER } from "next/constants.js";
import type nextLoadConfig from "next/dist/server/config";
import { sendErrorResponse, sendStartingResponse, sendUncaughtError, startingError } from "@/lib/http/error-responses";
import { createEventSockets } from "@/lib/http/event-sockets";
import { createOperatorRoutes, operatorPaths } from "@/lib/http/operator-routes";
import { addBasePath, checkEncoding, createEmbedPaths, escapeDots, getHosts, isApiPath, toRoutableUrl } from "@/lib/http/request-line";
import { createCompressedFiles, createMethodCheck, createPublicFileTest, createRequestNamer, type NameRequest } from "@/lib/http/routes";
import { createHttpServer, stopOnSignals } from "@/lib/http/server";
import { createVisitorGate } from "@/lib/http/visitor-gate";
import { isHttps } from "@/lib/server/cookies";
import { describeUnknownSettings, type Env, getConsoleUrl, readEnv } from "@/lib/server/env";
import { addSeenRequestHeader, lockDataFolder } from "@/lib/server/installation";
import { ADDRESS_HEADER, createAttemptLimit } from "@/lib/server/limits/attempt-limit";
import { getProcessState, waitForComposition } from "@/lib/server/process-state";
import { applyProxyHeader } from "@/lib/server/sign-in-settings";
import { createAddressReader, isProxy } from "@/lib/server/trusted-proxies";
import { createYieldQueue } from "@/lib/shared/async";
import { allowsVisitors, type FeedAdmission } from "@/lib/shared/http-types";
import { getNetwork } from "@/lib/shared/ip-address";
import { getTelemetry } from "@/lib/shared/telemetry";
import { getBuildFolder } from "./build/build-folder.mjs";
import { startTelemetry } from "./telemetry";

const CLOSE_GRACE_MS = 10_000;
const YEAR_SECONDS = 31_536_000;
const STOP_TIMEOUT_MS = 50_000;
/** Per IP address, which a whole office may share. Requests of signed-in members are refunded. */
const VISITOR_BURST = 240;
const VISITOR_REFILL_MS = 250;
const noFileError = { status: 404, code: "NOT_FOUND", message: "There is no such file." };
const INSTRUMENTATION_TIMEOUT_MS = 120_000;

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

async function main(): Promise<void> {
  const settings = readEnv();
  for (const warning of describeUnknownSettings()) process.stderr.write(`${warning}\n`);
  requirePages(settings);
  if (settings.databaseUrl === undefined) lockDataFolder(settings.dataDir);
  await startTelemetry(settings.service, "lightdesk");
  let handle: Handle = async (request, response) => sendStartingResponse(request, response);
  const { requestTimeoutMs, connectionsPerAddress } = settings.service;
  const { basePath } = settings;
  const bounds = {
    headersTimeoutMs: requestTimeoutMs,
    isProxy: (address: string) => isProxy(address, settings.proxies),
    connectionsPerAddress,
    basePath,
  };
  const isPage = (path: string) => !isApiPath(path);
  const embedPaths = createEmbedPaths();
  const checkMethod = createMethodCheck(JSON.parse(readFileSync(join(settings.root, "dist/routes.json"), "utf8")));
  const getAddress = createAddressReader(settings.proxies, () => getProcessState().composition?.log);
  const sockets = createEventSockets((request) => authorize(request, settings, getAddress(request)), { getAddress });
  const upgrades = { "/ws": sockets.handler, "/api/ws": sockets.handler };
  const nameRequest = createNamer(settings);
  const server = createHttpServer({ ...bounds, hosts: getHosts(settings), isPage, upgrades, nameRequest }, (request, response) =>
    embedPaths.runWithEmbedPath(request, () => handleRequest(request, response)),
  );
  const handleOperator = createOperatorRoutes({
    token: settings.service.metricsToken,
    getReadiness: () => getProcessState().composition?.readiness,
    canSeeReasons: async (request) => (await getProcessState().canSeeReasons?.(request)) ?? false,
  });
  const handleRequest = (request: IncomingMessage, response: ServerResponse): void => {
    addSeenRequestHeader(request, response, { authSecret: getProcessState().composition?.authSecret, getAddress, nowMs: Date.now() });
    if (handleOperator(request, response)) return;
    request.url = toRoutableUrl(escapeDots(request.url ?? "/"));
    const errorResponse = checkEncoding(request) ?? checkMethod(request) ?? applyProxyHeader(request, settings.proxySignIn);
    if (errorResponse) return sendErrorResponse(request, response, errorResponse);
    // With a base path, the host also serves other products.
    if (isHttps(settings.publicUrl) && basePath === "") response.setHeader("strict-transport-security", `max-age=${YEAR_SECONDS}`);
    request.headers[ADDRESS_HEADER] = getAddress(request);
    handle(request, response).catch((error: unknown) => {
      process.stderr.write(`request failed: ${describeError(error)}\n`);
      sendUncaughtError(request, response, error);
    });
  };
  stopOnSignals(async () => {
    sockets.close();
    getProcessState().composition?.liveHub.stop();
    await server.close(CLOSE_GRACE_MS);
    await getProcessState().composition?.stop();
    await getTelemetry().traces?.stop();
  }, STOP_TIMEOUT_MS);
  const port = await server.listen(settings.port, settings.host);
  const env = { ...settings, port };
  // Next, next-auth and the composition read these variables.
  process.env.LIGHTDESK_BASE_PATH = basePath;
  process.env.PORT = String(port);
  process.env.LIGHTDESK_DATA_DIR = env.dataDir;
  process.env.NEXTAUTH_URL = `${getConsoleUrl(env)}/api/auth`;
  process.env.NEXT_MANUAL_SIG_HANDLE = "1";

  const { default: next } = await import("next");
  // Loaded before Next, which would print the loading time.
  const require = createRequire(import.meta.url);
  const { default: loadConfig }: { default: typeof nextLoadConfig } = require("next/dist/server/config");
  await loadConfig(PHASE_PRODUCTION_SERVER, env.root);
  // Next installs an upgrade handler on its server, so it gets a server that never listens.
  // Next's proxy uses the host name "localhost". With another name, a rewrite would become an HTTP request.
  const app = next({ dev: false, dir: env.root, hostname: "localhost", port, httpServer: createServer() });
  await app.prepare();
  const composition = await waitForComposition(INSTRUMENTATION_TIMEOUT_MS);
  await composition.ready;
  const handleWithNext = app.getRequestHandler();
  const preferCompressed = createCompressedFiles(join(env.root, getBuildFolder(env), "static"), "/_next/static");
  const render: Handle = (request, response) => {
    request.url = addBasePath(request.url ?? "/", basePath);
    return handleWithNext(request, response);
  };
  const visitorLimit = createAttemptLimit({ now: Date.now, burst: VISITOR_BURST, refillMs: VISITOR_REFILL_MS });
  const getClientName = (request: IncomingMessage) => getNetwork(getAddress(request));
  const limit = {
    take: (request: IncomingMessage) => visitorLimit.consume(getClientName(request)),
    refund: (request: IncomingMessage) => visitorLimit.refund(getClientName(request)),
  };
  const gate = createVisitorGate({ rules: () => getProcessState().visitorRules, render, limit });
  const isPublicFile = createPublicFileTest(env.root, getBuildFolder(env));
  const [yieldBeforeHealth, yieldBeforeFile] = [createYieldQueue(), createYieldQueue()];
  handle = async (request, response) => {
    const { url = "/" } = request;
    const isHealth = /^\/api\/health(\?|$)/.test(url) && /^(GET|HEAD)$/.test(request.method ?? "");
    const isStaticFile = isPublicFile(url);
    // Not rate limited. One request per event loop iteration keeps pages responsive during a flood.
    if (isHealth) await yieldBeforeHealth();
    else if (isStaticFile) await yieldBeforeFile();
    if (response.destroyed) return;
    if (isHealth) return gate.serveHealth(request, response);
    if (isStaticFile) preferCompressed(request, response);
    else if (/^\/(_next\/static|samples)\//.test(url)) return sendErrorResponse(request, response, noFileError);
    else if (allowsVisitors(url)) {
      if (await gate.serveVisitor(request, response)) return;
    } else if (!(await gate.admitCall(request, response))) return;
    const directRead = request.method === "GET" ? getProcessState().directReads?.get(url.split("?", 1)[0] ?? "") : undefined;
    await (directRead ?? render)(request, response);
  };

  process.stdout.write(`Lightdesk: ${getConsoleUrl(env)}\n`);
  const setUpUrl = composition.getSetUpUrl();
  if (setUpUrl) process.stdout.write(`Set up: ${setUpUrl}\n`);
}

function requirePages(env: Env): void {
  if (existsSync(join(env.root, getBuildFolder(env), "BUILD_ID"))) return;
  const { basePath } = env;
  throw new Error(
    basePath === ""
      ? "The console is not built. Run npm run build."
      : `The console is not built for LIGHTDESK_BASE_PATH=${basePath}. Run npm run build with this setting, or build the image with --build-arg LIGHTDESK_BASE_PATH=${basePath}.`,
  );
}

async function authorize(request: IncomingMessage, env: Env, address: string): Promise<FeedAdmission> {
  const errorResponse = applyProxyHeader(request, env.proxySignIn);
  if (errorResponse) return { ok: false, error: errorResponse };
  request.headers[ADDRESS_HEADER] = address;
  const { authorizeSubscription } = getProcessState();
  return authorizeSubscription ? authorizeSubscription(request) : { ok: false, error: { status: 503, ...startingError } };
}

function createNamer(env: Env): NameRequest | undefined {
  const { metrics, traces } = getTelemetry();
  if (!metrics && !traces) return undefined;
  const routes: Record<string, string> = JSON.parse(
    readFileSync(join(env.root, getBuildFolder(env), "app-path-routes-manifest.json"), "utf8"),
  );
  return createRequestNamer([...operatorPaths, ...Object.values(routes)]);
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? error.code : undefined;
  if (code === "BAD_SETTING") return error.message;
  if (code === "EADDRINUSE") return `PORT must be a free port (${error.message}). Another Lightdesk may be running.`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") return `HOST must be an address of this machine (${error.message}).`;
  // Plain errors and errors with a code have readable messages. Others get a stack trace.
  return error.name === "Error" || code !== undefined ? error.message : (error.stack ?? error.message);
}

function fail(error: unknown): void {
  process.stderr.write(`${describeError(error)}\n`);
  process.exit(1);
}

main().catch(fail);
