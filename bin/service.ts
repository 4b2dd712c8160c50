// The stand-alone service and its commands, run as dist/service.mjs in the project's folder:
//   (nothing)                          serves the interface and prints `Service: URL` when it is ready
//   keys create --user NAME            prints the new key alone on its last line
//   keys list | keys revoke PREFIX | users set-status NAME active|waitlisted      work while the service runs
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { getRequestListener, RequestError } from "@hono/node-server";
import pino from "pino";
import { readServiceEnv, type ServiceEnv } from "@/lib/service/env";
import { handleUpgrades } from "@/lib/http/upgrades";
import { createService, openServiceKeys, type ServiceKeys } from "@/lib/service/index";
import { closeServer } from "./close-server";
import { continueLate } from "./continue-late";
import { incomingBody } from "./incoming-body";
import { lingerAfterRefusals } from "./linger";
import { keepDots } from "./keep-dots";
import { refuseHost } from "./refuse-host";
import { refuseUnparsed } from "./refuse-unparsed";

/** With what jobs and requests are given behind it, less than the 30 seconds after which most supervisors kill. */
const GRACE_MS = 10_000;

const usage = "Commands: keys create --user NAME | keys list | keys revoke PREFIX | users set-status NAME active|waitlisted";

async function main(): Promise<void> {
  const reading = readServiceEnv();
  if (!reading.ok) return fail(reading.problems.join("\n"));
  const dataDir = join(reading.env.dataDir, "service");
  const words = process.argv.slice(2);
  if (words.length === 0) return serve(reading.env, dataDir);
  const keys = openServiceKeys(dataDir);
  try {
    runCommand(keys, words);
  } finally {
    keys.close();
  }
}

function runCommand(keys: ServiceKeys, words: string[]): void {
  const [room, verb, first, second] = words;
  const print = (line: string) => process.stdout.write(`${line}\n`);
  if (room === "keys" && verb === "create" && first === "--user" && second) {
    const { key, prefix } = keys.createKey(second);
    print(`A new key for ${second}, listed as ${prefix}. It is shown this once:`);
    print(key);
  } else if (room === "keys" && verb === "list") {
    for (const one of keys.listKeys()) {
      const since = new Date(one.createdAtMs).toISOString();
      print(
        `${one.prefix}  ${one.userName} (${one.userStatus})  created ${since}${one.revokedAtMs ? `  revoked ${new Date(one.revokedAtMs).toISOString()}` : ""}`,
      );
    }
  } else if (room === "keys" && verb === "revoke" && first) {
    if (!keys.revokeKey(first)) return fail(`No living key has the prefix ${first}. See: keys list`);
    print(`Revoked ${first}.`);
  } else if (room === "users" && verb === "set-status" && first && (second === "active" || second === "waitlisted")) {
    if (!keys.setUserStatus(first, second)) return fail(`There is no user ${first}.`);
    print(`${first} is ${second}.`);
  } else fail(usage);
}

async function serve(env: ServiceEnv, dataDir: string): Promise<void> {
  const root = process.cwd();
  const service = createService({
    dataDir,
    shippedImagesDir: join(root, "public", "samples"),
    workerPath: join(root, "dist", "node-worker.mjs"),
    publicUrl: env.publicUrl,
    ...env.settings,
    log: pino({ level: "warn" }, pino.destination({ dest: 2, sync: true })),
  });
  const listener = getRequestListener((request, { incoming, outgoing }) => service.fetch(request, incomingBody(incoming, outgoing)), {
    errorHandler: refuseUnread,
  });
  const { requestTimeoutMs } = env.settings;
  const checkEveryMs = Math.min(30_000, requestTimeoutMs / 2);
  const server = createServer({ connectionsCheckingInterval: checkEveryMs, requireHostHeader: false }, (request, response) => {
    if (refuseHost(request, response)) return;
    request.url = keepDots(request.url ?? "/");
    void listener(request, response);
  });
  lingerAfterRefusals(server);
  continueLate(server);
  refuseUnparsed(server);
  handleUpgrades(server);
  // Uploads may take hours: the service itself ends a body that stands still. Headers have to come in that time too.
  server.requestTimeout = 0;
  server.headersTimeout = requestTimeoutMs;
  // The port first: a second start on it must not wait for locks and sweeps to learn that it is taken.
  const port = await listen(server, env);
  await service.start();

  let isStopping = false;
  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    await closeServer(server, GRACE_MS);
    await service.stop();
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop());
  const host = env.host === "0.0.0.0" || env.host === "::" ? "127.0.0.1" : env.host;
  process.stdout.write(`Service: ${env.publicUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`}\n`);
}

/** What makes no request of the standard's kind, such as a backslash in a path. */
function refuseUnread(error: unknown): Response {
  const [status, code, message] =
    error instanceof RequestError
      ? [400, "BAD_REQUEST", "The address is not as it should be."]
      : [500, "INTERNAL", "The service failed to answer this request."];
  return Response.json({ code, message }, { status, headers: { connection: "close" } });
}

function listen(server: Server, env: ServiceEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(env.port, env.host, () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : env.port);
    });
  });
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

main().catch((error: unknown) => {
  const inUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  fail(inUse ? "PORT must be a free port: another process listens there." : error instanceof Error ? error.message : String(error));
  process.exit(1);
});
