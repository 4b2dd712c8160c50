// Injects faults into two consoles and two services on one PostgreSQL while users and programs work. Nobody is signed out,
// acknowledged work is kept, nothing runs twice, and every refusal gives a reason.
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { queryDatabase } from "../support/postgres-server";
import { findProgram, skipWithout } from "../support/program";
import { isPrompt } from "../support/service-gate";
import { until } from "../support/until";
import { type Cluster, FIVE_MINUTES_MS, LOST_RESPONSE_KEY, startCluster } from "./cluster/cluster";
import { createSimulatedUsers, expectValidRefusal, retryOptions, type SimulatedUsers, type UserResponse } from "./cluster/simulated-users";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** Longer than a lease or a connection timeout, and as long as the timeout of statements and transactions. */
const OUTAGE_MS = 30_000;
const createTimer = (ms: number) => {
  const endsAt = performance.now() + ms;
  return () => performance.now() > endsAt;
};

let nginxPath: string | undefined;
let cluster: Cluster;
let users: SimulatedUsers;

beforeAll(async () => {
  nginxPath = await findProgram("nginx");
  if (nginxPath === undefined) return;
  cluster = await startCluster(nginxPath);
  users = await createSimulatedUsers(cluster);
});
beforeEach((context) => void (nginxPath ?? skipWithout("nginx", context)));
afterAll(async () => {
  await users?.remove();
  await cluster?.remove();
});

test("keeps the other processes working while each is killed in turn", async () => {
  cluster.runner.setMode("hold");
  const running = await users.submitUntilAccepted("key-held-on-the-runner", "gpu");
  await until("the runner runs it", () => cluster.runner.queue().running !== undefined);
  const lostResponse = users.submit(LOST_RESPONSE_KEY, "own");
  await until("a service has received it", () => users.countSubmissions(LOST_RESPONSE_KEY) === 1);
  for (const [index, part] of [...cluster.consoles, ...cluster.services].entries()) {
    const during = users.work(`killed-${index}`);
    await part.process.stop("SIGKILL");
    await during;
    await part.start();
  }
  cluster.runner.setMode("run");
  cluster.runner.release();
  expect([0, 502]).toContain((await lostResponse).status);
  const rerun = await users.retryUntilAccepted("a console reports its outcome", () => users.submit(LOST_RESPONSE_KEY, "own"), {
    mayBeUnknown: true,
  });
  expect(JSON.parse(rerun.text).code).toBe("OUTCOME_UNKNOWN");
  expect(users.countSubmissions(LOST_RESPONSE_KEY)).toBe(1);
  await users.expectAllOnce();
  expect((await users.getJob(running ?? "")).runner).toMatchObject({ label: "GPU", attempt: 1 });
});

test("runs an app once when a console is killed between two requests with one key", async () => {
  for (const [index, consoleProcess] of cluster.consoles.entries()) {
    const key = `key-of-a-script-${index}-${LOST_RESPONSE_KEY}`;
    const [otherConsole] = cluster.consoles.filter((part) => part !== consoleProcess);
    const first = users.runApp(key, `http://127.0.0.1:${consoleProcess.port}`);
    await until("the service has received it", () => users.countSubmissions(key) === 1);
    const getState = ({ status, text }: UserResponse) => [status, JSON.parse(text).run.state];
    const rerun = (to?: string) => users.retryUntilAccepted("the app is rerun", () => users.runApp(key, to));
    const otherUrl = `http://127.0.0.1:${otherConsole?.port}`;
    // The other console has recorded that the run is being sent.
    expect(getState(await rerun(otherUrl))).toEqual([202, "sending"]);
    const second = users.runApp(key, otherUrl);
    await consoleProcess.process.stop("SIGKILL");
    expect((await first).status).toBe(0);
    // May run before the other console notices that the first one ended.
    expect(getState(await second)).toEqual([202, expect.toBeOneOf(["sending", "unknown"])]);
    await until("its outcome is known", async () => getState(await rerun())[1] !== "sending");
    expect(getState(await rerun())).toEqual([202, "unknown"]);
    expect(users.countSubmissions(key)).toBe(1);
    await consoleProcess.start();
  }
});

test("explains a database restart and completes pending work once", async () => {
  const before = users.work("before-the-restart");
  await cluster.postgres.stop();
  const key = "key-during-the-outage-0";
  for (const response of [await users.listJobs(), await users.submit(key, "own"), await users.runApp(key)]) expectValidRefusal(response);
  expect(users.countSubmissions(key)).toBe(0);
  const during = users.work("restarted");
  await cluster.postgres.start();
  await Promise.all([before, during]);
  await users.expectAllOnce();
});

test("recovers from a lost database connection and ignores results of lost jobs", async () => {
  const parts = [...cluster.consoles, ...cluster.services];
  const [lateService] = cluster.services.slice(1);
  cluster.runner.setMode("hold");
  const running = await users.submitUntilAccepted("key-held-while-cut", "gpu");
  await until("the runner runs it", () => cluster.runner.queue().running !== undefined);
  // Each of the four processes runs one job.
  const slowJobs = await Promise.all(parts.map((_, index) => users.submitUntilAccepted(`key-slow-${index}-of-a-service`, "slow")));
  const getSlowRows = () => users.getRows(slowJobs);
  await until("each process runs one job", async () => {
    const running = (await getSlowRows()).filter(({ state }) => state === "in_progress");
    return new Set(running.map(({ holder }) => holder)).size === parts.length;
  });
  for (const { databaseProxy } of parts) databaseProxy.cut();
  const isOutageOver = createTimer(OUTAGE_MS);

  const during = users.work("cut");
  // A request without a connection is refused in seconds. One on a silent connection is refused after half a minute.
  const refusal = users.listJobs().then(expectValidRefusal);
  const restarted = cluster.consoles[1];
  await restarted?.process.stop("SIGKILL");
  await expect(restarted?.start()).rejects.toThrow(/Can't reach the database of DATABASE_URL/);
  await refusal;
  // The runner reports the job's end while no service can record it.
  cluster.runner.setMode("run");
  cluster.runner.release();
  await until("the outage is over", isOutageOver);
  expect(cluster.gate.requests.filter((request) => isPrompt(request) && request.body.includes("key-cut-"))).toEqual([]);

  for (const part of parts) if (part !== lateService) part.databaseProxy.restore();
  const restartPromise = restarted?.start();
  const jobs = await until(
    "all jobs have ended, although two of their processes are dead or cut off",
    async () => {
      const rows = await getSlowRows();
      return rows.every(({ state }) => state === "completed") && rows;
    },
    retryOptions,
  );
  expect(jobs.filter(({ attempts }) => attempts > 1).length).toBeGreaterThanOrEqual(2);
  // Durations come from one clock each, although two of the four clocks are five minutes ahead.
  for (const { lasted } of jobs) expect([lasted >= 0, lasted < FIVE_MINUTES_MS], String(lasted)).toEqual([true, true]);
  lateService?.databaseProxy.restore();
  await Promise.all([restartPromise, during]);
  await users.expectAllOnce();
  expect((await users.getJob(running ?? "")).runner).toMatchObject({ label: "GPU", attempt: 1 });
  expect(await getSlowRows()).toEqual(jobs);
});

test("recovers when other clients use all database connections", async () => {
  const otherClients: pg.Client[] = [];
  const useAllConnections = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: cluster.postgres.url });
    client.on("error", () => undefined);
    const isConnected = await client.connect().then(
      () => true,
      () => false,
    );
    if (!isConnected) return;
    otherClients.push(client);
    return useAllConnections();
  };
  const terminateQuery = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'lightdesk%'";
  await useAllConnections();
  await until("no console has a connection", async () => {
    await otherClients[0]?.query(terminateQuery);
    await useAllConnections();
    const response = await users.listJobs();
    if (response.status !== 200) expectValidRefusal(response);
    return response.status === 503;
  });
  const [lastClient, ...remainingClients] = otherClients;
  await Promise.all(remainingClients.map((client) => client.end()));
  const clientsQuery = "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name NOT LIKE 'lightdesk%'";
  await until("the other connections have ended", async () => (await lastClient?.query(clientsQuery))?.rows.length === 1);
  await lastClient?.end();
  await users.work("filled");
  await users.expectAllOnce();
});

test("keeps running when the schema is newer but refuses to restart", async () => {
  const during = users.work("before-it");
  for (const table of ["sessions", "members", "submissions", "lightdesk_service.jobs", "lightdesk_service.attempts"])
    await queryDatabase(cluster.url, `ALTER TABLE ${table} ADD COLUMN newer text`);
  await queryDatabase(cluster.url, "INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-newer', '2030-01-01T00:00:00.000Z')");
  await queryDatabase(cluster.url, "INSERT INTO lightdesk_service.migrations (name, applied_at) VALUES ('9999-newer', 0)");
  await during;
  await users.work("after-it");
  for (const [older] of [cluster.consoles, cluster.services]) {
    await older?.process.stop();
    await expect(older?.start()).rejects.toThrow(/written by a newer version/);
  }
  await users.expectAllOnce();
});
