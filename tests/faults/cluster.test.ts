// Faults in a cluster of two consoles and two services on one PostgreSQL, while people and programs work: nobody is signed out, everything
// acknowledged is kept, nothing runs twice, and every refusal gives a reason.
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { queryDatabase } from "../support/postgres-server";
import { endWithout, findProgram } from "../support/program";
import { isPrompt } from "../support/service-gate";
import { until } from "../support/until";
import { type Cluster, FIVE_MINUTES_MS, startCluster, UNANSWERED } from "./cluster/cluster";
import { type Answer, createPeople, expectRefusedWell, patience, type People } from "./cluster/people";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** Longer than a lease and a connection timeout; as long as the timeout of statements and transactions. */
const CUT_MS = 30_000;
const isLater = (ms: number) => {
  const at = performance.now() + ms;
  return () => performance.now() > at;
};

let program: string | undefined;
let cluster: Cluster;
let people: People;

beforeAll(async () => {
  program = await findProgram("nginx");
  if (program === undefined) return;
  cluster = await startCluster(program);
  people = await createPeople(cluster);
});
beforeEach((context) => void (program ?? endWithout("nginx", context)));
afterAll(async () => {
  await people?.remove();
  await cluster?.remove();
});

test("keeps the other processes working while each is killed in turn", async () => {
  cluster.runner.does("hold");
  const running = await people.submitted("key-held-on-the-runner", "gpu");
  await until("the runner runs it", () => cluster.runner.queue().running !== undefined);
  const cut = people.submit(UNANSWERED, "own");
  await until("a service has it", () => people.sentFor(UNANSWERED) === 1);
  for (const [at, part] of [...cluster.consoles, ...cluster.services].entries()) {
    const during = people.work(`killed-${at}`);
    await part.process.stop("SIGKILL");
    await during;
    await part.begin();
  }
  cluster.runner.does("run");
  cluster.runner.release();
  expect([0, 502]).toContain((await cut).status);
  const rerun = await people.answered("a console reports its outcome", () => people.submit(UNANSWERED, "own"), { mayBeUnknown: true });
  expect(JSON.parse(rerun.text).message).toBe("The console stopped while it waited for the service's response.");
  expect(people.sentFor(UNANSWERED)).toBe(1);
  await people.expectAllOnce();
  expect((await people.jobOf(running ?? "")).runner).toMatchObject({ label: "GPU", attempt: 1 });
});

test("runs an app once when a console is killed between two requests of a key", async () => {
  for (const [at, console] of cluster.consoles.entries()) {
    const key = `key-of-a-script-${at}-${UNANSWERED}`;
    const [otherConsole] = cluster.consoles.filter((part) => part !== console);
    const first = people.runApp(key, `http://127.0.0.1:${console.port}`);
    await until("the service has it", () => people.sentFor(key) === 1);
    const getState = ({ status, text }: Answer) => [status, JSON.parse(text).run.state];
    const rerun = (to?: string) => people.answered("it is rerun", () => people.runApp(key, to));
    const otherUrl = `http://127.0.0.1:${otherConsole?.port}`;
    // The other console has recorded that it is being sent.
    expect(getState(await rerun(otherUrl))).toEqual([202, "sending"]);
    const second = people.runApp(key, otherUrl);
    await console.process.stop("SIGKILL");
    expect((await first).status).toBe(0);
    // May run before the other console notices that the first one ended.
    expect(getState(await second)).toEqual([202, expect.toBeOneOf(["sending", "unknown"])]);
    await until("its end is known", async () => getState(await rerun())[1] !== "sending");
    expect(getState(await rerun())).toEqual([202, "unknown"]);
    expect(people.sentFor(key)).toBe(1);
    await console.begin();
  }
});

test("explains a database restart and does pending work once", async () => {
  const before = people.work("before-the-restart");
  await cluster.postgres.stop();
  const key = "key-while-it-is-away-0";
  for (const response of [await people.list(), await people.submit(key, "own"), await people.runApp(key)]) expectRefusedWell(response);
  expect(people.sentFor(key)).toBe(0);
  const during = people.work("restarted");
  await cluster.postgres.start();
  await Promise.all([before, during]);
  await people.expectAllOnce();
});

test("recovers from a network cut to the database and ignores lost jobs' results", async () => {
  const parts = [...cluster.consoles, ...cluster.services];
  const [lateService] = cluster.services.slice(1);
  cluster.runner.does("hold");
  const running = await people.submitted("key-held-while-cut", "gpu");
  await until("the runner runs it", () => cluster.runner.queue().running !== undefined);
  // Each of the four processes runs one of them.
  const slow = await Promise.all(parts.map((_, at) => people.submitted(`key-slow-${at}-of-a-service`, "slow")));
  const ofSlow = () => people.rowsOf(slow);
  await until("each runs one", async () => {
    const running = (await ofSlow()).filter(({ state }) => state === "in_progress");
    return new Set(running.map(({ holder }) => holder)).size === parts.length;
  });
  for (const { line } of parts) line.cut();
  const isOver = isLater(CUT_MS);

  const during = people.work("cut");
  // A request that finds no connection is refused in seconds, one whose connection is silent after half a minute.
  const refused = people.list().then(expectRefusedWell);
  const restarted = cluster.consoles[1];
  await restarted?.process.stop("SIGKILL");
  await expect(restarted?.begin()).rejects.toThrow(/Can't reach the database of DATABASE_URL/);
  await refused;
  // The runner reports the job's end while no service can record it.
  cluster.runner.does("run");
  cluster.runner.release();
  await until("half a minute has passed", isOver);
  expect(cluster.gate.requests.filter((request) => isPrompt(request) && request.body.includes("key-cut-"))).toEqual([]);

  for (const part of parts) if (part !== lateService) part.line.mend();
  const restartPromise = restarted?.begin();
  const jobs = await until(
    "all have ended, although two of those that ran them are dead or cut off",
    async () => {
      const rows = await ofSlow();
      return rows.every(({ state }) => state === "completed") && rows;
    },
    patience,
  );
  expect(jobs.filter(({ attempts }) => attempts > 1).length).toBeGreaterThanOrEqual(2);
  // By one clock each: two of the four are five minutes ahead.
  for (const { lasted } of jobs) expect([lasted >= 0, lasted < FIVE_MINUTES_MS], String(lasted)).toEqual([true, true]);
  lateService?.line.mend();
  await Promise.all([restartPromise, during]);
  await people.expectAllOnce();
  expect((await people.jobOf(running ?? "")).runner).toMatchObject({ label: "GPU", attempt: 1 });
  expect(await ofSlow()).toEqual(jobs);
});

test("recovers when other clients use all database connections", async () => {
  const otherClients: pg.Client[] = [];
  const fill = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: cluster.postgres.url });
    client.on("error", () => undefined);
    const isIn = await client.connect().then(
      () => true,
      () => false,
    );
    if (!isIn) return;
    otherClients.push(client);
    return fill();
  };
  const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'lightdesk%'";
  await fill();
  await until("no console has a connection", async () => {
    await otherClients[0]?.query(end);
    await fill();
    const response = await people.list();
    if (response.status !== 200) expectRefusedWell(response);
    return response.status === 503;
  });
  const [last, ...rest] = otherClients;
  await Promise.all(rest.map((client) => client.end()));
  const open = "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name NOT LIKE 'lightdesk%'";
  await until("the others have left", async () => (await last?.query(open))?.rows.length === 1);
  await last?.end();
  await people.work("filled");
  await people.expectAllOnce();
});

test("keeps running after a newer schema and refuses to start an older version", async () => {
  const during = people.work("before-it");
  for (const table of ["sessions", "members", "submissions", "lightdesk_service.jobs", "lightdesk_service.attempts"])
    await queryDatabase(cluster.url, `ALTER TABLE ${table} ADD COLUMN newer text`);
  await queryDatabase(cluster.url, "INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-newer', '2030-01-01T00:00:00.000Z')");
  await queryDatabase(cluster.url, "INSERT INTO lightdesk_service.migrations (name, applied_at) VALUES ('9999-newer', 0)");
  await during;
  await people.work("after-it");
  for (const [older] of [cluster.consoles, cluster.services]) {
    await older?.process.stop();
    await expect(older?.begin()).rejects.toThrow(/written by a newer version/);
  }
  await people.expectAllOnce();
});
