// Starts two consoles and two services that share a PostgreSQL database and a runner. Each pair is behind nginx. Tests kill
// and restart the processes. The second of each pair has a clock that is five minutes ahead.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openServiceStore } from "@/lib/service/index";
import { createPng } from "@/tests/integration/service/support";
import { type BreakableProxy, startBreakableProxy } from "@/tests/support/breakable-proxy";
import { findFreePort } from "@/tests/support/free-port";
import { createGpuClasses } from "@/tests/support/gpu-classes";
import { startNginx } from "@/tests/support/nginx";
import { createDatabase, type PostgresServer, startPostgres } from "@/tests/support/postgres-server";
import { type RunnerServer, startRunnerServer } from "@/tests/support/runner-server";
import { isPrompt, startServiceGate } from "@/tests/support/service-gate";
import { type StartedProcess, startProcess } from "@/tests/support/start-process";
import { type ReceivedRequest } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

export type Cluster = Awaited<ReturnType<typeof startCluster>>;
/** One of the four processes, with its own database connection. */
export type ClusterProcess = {
  port: number;
  databaseProxy: BreakableProxy;
  process: StartedProcess;
  start(): Promise<void>;
};
type Program = { script: string; label: string };

const consoleProgram: Program = { script: "dist/console.mjs", label: "Lightdesk" };
const serviceProgram: Program = { script: "dist/service.mjs", label: "Service" };
export const FIVE_MINUTES_MS = 300_000;
/** Preloads a module that sets the clock ahead. Redefines `UTC` and `parse`, because Next.js copies only own properties of `Date`. */
const createClockSkewNodeOptions = (ms: number) =>
  `--import=data:text/javascript,${encodeURIComponent(
    `const Real=Date;globalThis.Date=class extends Real{constructor(...a){a.length?super(...a):super(Real.now()+${ms})}static now(){return Real.now()+${ms}}static UTC=Real.UTC;static parse=Real.parse}`,
  )}`;
const clockSettings: Record<string, string>[] = [{}, { NODE_OPTIONS: createClockSkewNodeOptions(FIVE_MINUTES_MS) }];
/** The gate drops the response to a submission that contains this key. */
export const LOST_RESPONSE_KEY = "a-key-without-a-response";

/** `nginxPath`: the path of the nginx executable. The caller must call `remove`. */
export async function startCluster(nginxPath: string) {
  const folder = await mkdtemp(join(tmpdir(), "lightdesk-cluster-"));
  const postgres: PostgresServer = await startPostgres({ connections: 100 });
  const { url } = await createDatabase(postgres.url);
  const runner: RunnerServer = await startRunnerServer({
    objectInfo: createGpuClasses(["one.safetensors"]),
    makeOutput: ({ class_type, inputs }) =>
      class_type === "SaveImage" ? { files: [{ name: `${String(inputs.filename_prefix)}_00001_.png`, bytes: Buffer.from(createPng(8, 8)) }] } : undefined, // prettier-ignore
  });
  const store = await openServiceStore(join(folder, "commands"), { concurrency: 1, databaseUrl: url });
  const { key } = await store.keys.createKey("ada");
  await store.runners.add({ address: runner.address, label: "GPU" });
  await store.close();

  const [consolePort, servicePort] = [await findFreePort(), await findFreePort()];
  const shared = {
    LIGHTDESK_BLOBS: join(folder, "blobs"),
    LIGHTDESK_ENCRYPTION_KEYS: `one:${Buffer.alloc(32, 1).toString("base64")}`,
    LIGHTDESK_TRUST_PROXY: "127.0.0.1",
    LIGHTDESK_CONCURRENCY: "1",
    LIGHTDESK_RUNNER_CHECK_SECONDS: "1",
  };
  const startClusterProcess = async (
    { script, label }: Program,
    name: string,
    settings: Record<string, string>,
  ): Promise<ClusterProcess> => {
    const port = await findFreePort();
    const databaseProxy = await startBreakableProxy(Number(new URL(url).port));
    const environment = {
      ...shared,
      ...settings,
      PORT: String(port),
      DATABASE_URL: url.replace(/:\d+\//, `:${databaseProxy.port}/`),
      LIGHTDESK_DATA_DIR: join(folder, name),
    };
    const clusterProcess: ClusterProcess = {
      port,
      databaseProxy,
      process: startProcess(script, environment),
      async start() {
        clusterProcess.process = startProcess(script, environment);
        await clusterProcess.process.waitForOutput(label);
      },
    };
    return clusterProcess;
  };
  const startPair = (kind: Program, name: string, publicPort: number) =>
    Promise.all(
      clockSettings.map((clock, index) =>
        startClusterProcess(kind, `${name}-${index}`, { ...clock, LIGHTDESK_PUBLIC_URL: `http://127.0.0.1:${publicPort}` }),
      ),
    );
  // All processes start at once, on an empty database.
  const [consoles, services] = await Promise.all([
    startPair(consoleProgram, "console", consolePort),
    startPair(serviceProgram, "service", servicePort),
  ]);
  const proxies = await Promise.all(
    [[consolePort, consoles] as const, [servicePort, services] as const].map(async ([listenPort, processes]) =>
      startNginx(nginxPath, await mkdtemp(join(folder, "nginx-")), {
        listenPort,
        consoles: processes.map(({ port }) => port),
        basePathPort: 9,
      }),
    ),
  );
  const refused = new Set<ReceivedRequest>();
  const gate = await startServiceGate(
    { url: `http://127.0.0.1:${servicePort}` },
    (request) => (isPrompt(request) && request.body.includes(LOST_RESPONSE_KEY) ? "unanswered" : undefined),
    (request, status) => void (status === 503 && refused.add(request)),
  );
  const setUpUrls = await Promise.all(consoles.map(({ process }) => process.waitForOutput("Set up")));
  await Promise.all(services.map(({ process }) => process.waitForOutput("Service")));
  for (const port of [consolePort, servicePort])
    await until("nginx responds", async () => (await fetch(`http://127.0.0.1:${port}/api/health/live`).catch(() => undefined))?.ok);
  return {
    consoleUrl: `http://127.0.0.1:${consolePort}`,
    setUpUrl: setUpUrls[1] ?? "",
    key,
    url,
    postgres,
    runner,
    gate,
    /** Requests that a service refused because its database was unavailable. */
    refused,
    consoles,
    services,
    async remove(): Promise<void> {
      for (const { process } of [...consoles, ...services]) await process.stop("SIGKILL");
      for (const proxy of proxies) await proxy.stop();
      await gate.close();
      await runner.close();
      for (const { databaseProxy } of [...consoles, ...services]) databaseProxy.close();
      await postgres.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
