// Two consoles and two services on one PostgreSQL, each pair behind an nginx, and a runner that the services share: processes that a test kills
// and starts again. The second of each pair has a clock that is five minutes ahead.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openServiceStore } from "@/lib/service/index";
import { png } from "@/tests/integration/service/support";
import { freePort } from "@/tests/support/free-port";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { type Line, startLine } from "@/tests/support/line";
import { startNginx } from "@/tests/support/nginx";
import { createDatabase, type PostgresServer, startPostgres } from "@/tests/support/postgres-server";
import { type RunnerServer, startRunnerServer } from "@/tests/support/runner-server";
import { isPrompt, startServiceGate } from "@/tests/support/service-gate";
import { type StartedProcess, startProcess } from "@/tests/support/start-process";
import { type ReceivedRequest } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

export type Cluster = Awaited<ReturnType<typeof startCluster>>;
/** One of the four processes, with its own database connection. */
export type Part = { port: number; line: Line; settings: Record<string, string>; process: StartedProcess; begin(): Promise<void> };
type Kind = { script: string; says: string };

const console: Kind = { script: "dist/console.mjs", says: "Lightdesk" };
const service: Kind = { script: "dist/service.mjs", says: "Service" };
export const FIVE_MINUTES_MS = 300_000;
/** A preloaded module that sets the clock ahead. Next copies the own properties of `Date`. */
const laterBy = (ms: number) =>
  `--import=data:text/javascript,${encodeURIComponent(
    `const Real=Date;globalThis.Date=class extends Real{constructor(...a){a.length?super(...a):super(Real.now()+${ms})}static now(){return Real.now()+${ms}}static UTC=Real.UTC;static parse=Real.parse}`,
  )}`;
const clocks: Record<string, string>[] = [{}, { NODE_OPTIONS: laterBy(FIVE_MINUTES_MS) }];
/** The service's response to a submission with this text never arrives. */
export const UNANSWERED = "a-key-without-an-answer";

/** `program`: nginx. The caller calls `remove`. */
export async function startCluster(program: string) {
  const folder = await mkdtemp(join(tmpdir(), "lightdesk-cluster-"));
  const postgres: PostgresServer = await startPostgres({ connections: 100 });
  const { url } = await createDatabase(postgres.url);
  const runner: RunnerServer = await startRunnerServer({
    objectInfo: gpuClasses(["one.safetensors"]),
    makeOutput: ({ class_type, inputs }) =>
      class_type === "SaveImage" ? { files: [{ name: `${String(inputs.filename_prefix)}_00001_.png`, bytes: Buffer.from(png(8, 8)) }] } : undefined, // prettier-ignore
  });
  const store = await openServiceStore(join(folder, "commands"), { concurrency: 1, databaseUrl: url });
  const { key } = await store.keys.createKey("ada");
  await store.runners.add({ address: runner.address, label: "GPU" });
  await store.close();

  const [front, serviceFront] = [await freePort(), await freePort()];
  const shared = {
    LIGHTDESK_BLOBS: join(folder, "blobs"),
    LIGHTDESK_ENCRYPTION_KEYS: `one:${Buffer.alloc(32, 1).toString("base64")}`,
    LIGHTDESK_TRUST_PROXY: "127.0.0.1",
    LIGHTDESK_CONCURRENCY: "1",
    LIGHTDESK_RUNNER_CHECK_SECONDS: "1",
  };
  const makePart = async ({ script, says }: Kind, name: string, settings: Record<string, string>): Promise<Part> => {
    const port = await freePort();
    const line = await startLine(Number(new URL(url).port));
    const all = {
      ...shared,
      ...settings,
      PORT: String(port),
      DATABASE_URL: url.replace(/:\d+\//, `:${line.port}/`),
      LIGHTDESK_DATA_DIR: join(folder, name),
    };
    const part: Part = {
      port,
      line,
      settings: all,
      process: startProcess(script, all),
      async begin() {
        part.process = startProcess(script, all);
        await part.process.printed(says);
      },
    };
    return part;
  };
  const pair = (kind: Kind, name: string, at: number) =>
    Promise.all(clocks.map((clock, n) => makePart(kind, `${name}-${n}`, { ...clock, LIGHTDESK_PUBLIC_URL: `http://127.0.0.1:${at}` })));
  // All start at once, on an empty database.
  const [consoles, services] = await Promise.all([pair(console, "console", front), pair(service, "service", serviceFront)]);
  const proxies = await Promise.all(
    [[front, consoles] as const, [serviceFront, services] as const].map(async ([at, parts]) =>
      startNginx(program, await mkdtemp(join(folder, "nginx-")), { front: at, consoles: parts.map(({ port }) => port), below: 9 }),
    ),
  );
  const refused = new Set<ReceivedRequest>();
  const gate = await startServiceGate(
    { url: `http://127.0.0.1:${serviceFront}` },
    (request) => (isPrompt(request) && request.body.includes(UNANSWERED) ? "unanswered" : undefined),
    (request, status) => void (status === 503 && refused.add(request)),
  );
  const links = await Promise.all(consoles.map(({ process }) => process.printed("Set up")));
  await Promise.all(services.map(({ process }) => process.printed("Service")));
  for (const at of [front, serviceFront])
    await until("nginx answers", async () => (await fetch(`http://127.0.0.1:${at}/api/health/live`).catch(() => undefined))?.ok);
  return {
    front: `http://127.0.0.1:${front}`,
    setUpToken: new URL(links[1] ?? "").searchParams.get("token"),
    key,
    url,
    postgres,
    runner,
    gate,
    /** Requests that a service refused because its database was away. */
    refused,
    consoles,
    services,
    async remove(): Promise<void> {
      for (const { process } of [...consoles, ...services]) await process.stop("SIGKILL");
      for (const proxy of proxies) await proxy.stop();
      await gate.close();
      await runner.close();
      for (const { line } of [...consoles, ...services]) line.close();
      await postgres.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
