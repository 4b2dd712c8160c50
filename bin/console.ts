// The console's own HTTP server around Next: it owns the sockets, so that a stop can let what is in flight end.
// Run as dist/console.mjs in the repository root; instrumentation.ts starts the composition, which is reached over globalThis.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { handleUpgrades } from "@/lib/http/upgrades";
import { ADDRESS_HEADER } from "@/lib/server/bff/client-address";
import { type Env, localUrl, readEnv } from "@/lib/server/env";
import { runningComposition, waitForComposition } from "@/lib/server/running";
import { closeServer } from "./close-server";
import { continueLate } from "./continue-late";
import { keepDots } from "./keep-dots";
import { lingerAfterRefusals } from "./linger";
import { refuseHost } from "./refuse-host";
import { refuseMalformed } from "./refuse-malformed";
import { refuseUnparsed } from "./refuse-unparsed";
import { sayLength } from "./say-length";
import { sayRefusals } from "./say-refusals";
import { stillStarting } from "./still-starting";

const GRACE_MS = 10_000;
const INSTRUMENTATION_MS = 20_000;

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

async function main(): Promise<void> {
  const asked = readEnv();
  let handle: Handle = async (request, response) => stillStarting(request, response);
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    if (refuseHost(request, response) || refuseMalformed(request, response)) return;
    request.url = keepDots(request.url ?? "/");
    sayLength(response);
    sayRefusals(request, response, (path) => methodsOf(path, server, asked.host));
    request.headers[ADDRESS_HEADER] = addressOf(request, asked);
    handle(request, response).catch((error: unknown) => {
      process.stderr.write(`a request broke: ${explain(error)}\n`);
      response.destroy();
    });
  });
  // Uploads may take hours; a peer that stops moving is ended by the client's or the service's own limit.
  server.requestTimeout = 0;
  lingerAfterRefusals(server);
  continueLate(server);
  refuseUnparsed(server);
  handleUpgrades(server);
  stopOnSignals(server);
  const port = await listen(server, asked);
  const env = { ...asked, port };
  // Next, next-auth and the composition read these; all three must see one truth.
  process.env.PORT = String(port);
  process.env.LIGHTDESK_DATA_DIR = env.dataDir;
  process.env.NEXTAUTH_URL = env.publicUrl ?? localUrl(env);
  process.env.NEXT_MANUAL_SIG_HANDLE = "1";

  const { default: next } = await import("next");
  // Next puts an upgrade handler of its own on the server it is given, which keeps sockets: it gets one that never listens.
  const app = next({ dev: false, dir: env.root, hostname: env.host, port, httpServer: createServer() });
  await app.prepare();
  const current = await waitForComposition(INSTRUMENTATION_MS);
  await current.ready;
  handle = app.getRequestHandler();

  process.stdout.write(`Lightdesk: ${env.publicUrl ?? localUrl(env)}\n`);
  const setUpUrl = current.setUpUrl();
  if (setUpUrl) process.stdout.write(`Set up: ${setUpUrl}\n`);
}

/** From the first moment on: a Ctrl-C during the start ends it as cleanly as one later. */
function stopOnSignals(server: Server): void {
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    await closeServer(server, GRACE_MS);
    await runningComposition()?.stop();
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop().catch(fail));
}

function addressOf(request: IncomingMessage, env: Env): string {
  const forwarded = env.trustProxy ? request.headers["x-forwarded-for"] : undefined;
  // The last entry is the one that our own proxy wrote; the ones before it are the client's word.
  const last = String(forwarded ?? "")
    .split(",")
    .at(-1)
    ?.trim();
  return last || request.socket.remoteAddress || "unknown";
}

/** Next knows which methods a route exports and tells it to OPTIONS alone. */
async function methodsOf(path: string, server: Server, host: string): Promise<string | undefined> {
  const port = portOf(server.address());
  if (port === undefined) return undefined;
  try {
    const answer = await fetch(localUrl({ host, port }) + path, { method: "OPTIONS" });
    return answer.headers.get("allow") ?? undefined;
  } catch {
    return undefined; // the refusal stands without it
  }
}

function listen(server: Server, env: Env): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(env.port, env.host, () => {
      server.off("error", reject);
      resolve(portOf(server.address()) ?? env.port);
    });
  });
}

function portOf(address: AddressInfo | string | null): number | undefined {
  return typeof address === "object" && address !== null ? address.port : undefined;
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? error.code : undefined;
  if (code === "BAD_SETTING") return error.message;
  if (code === "EADDRINUSE") return `PORT must be a free port: something listens on it already (${error.message}).`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") return `HOST must be an address of this machine (${error.message}).`;
  // Plain errors and those with a code were written to be read; the others are faults of the program.
  return error.name === "Error" || code !== undefined ? error.message : (error.stack ?? error.message);
}

function fail(error: unknown): void {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
}

main().catch(fail);
