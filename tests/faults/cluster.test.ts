// Two consoles and two services on one PostgreSQL, and what befalls them while people and programs work: none is signed out, what was
// acknowledged is there, nothing runs twice, and whatever is refused is said in words.
import pg from "pg";
import { afterAll, beforeAll, expect, test as anywhere, vi } from "vitest";
import { findOrInstall } from "@/bin/browser.mjs";
import { ask } from "../support/postgres-server";
import { isPrompt } from "../support/service-gate";
import { until } from "../support/until";
import { type Cluster, startCluster, UNANSWERED } from "./cluster/cluster";
import { type Answer, createPeople, expectRefusedWell, type People } from "./cluster/people";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const program = await findOrInstall("nginx", "nginx-light");
const test = anywhere.skipIf(program === undefined);

let cluster: Cluster;
let people: People;

beforeAll(async () => {
  if (program === undefined) return;
  cluster = await startCluster(program);
  people = await createPeople(cluster);
});
afterAll(async () => {
  await people?.remove();
  await cluster?.remove();
});

test("each of the four is killed in turn: the others go on, what was cut is neither sent again nor told as done, and a job on the runner goes on", async () => {
  cluster.runner.does("hold");
  const held = await people.submitted("key-held-on-the-runner", "gpu");
  await until("it runs there", () => cluster.runner.queue().running !== undefined);
  const cut = people.submit(UNANSWERED, "own");
  await until("a service has it", () => people.sentFor(UNANSWERED) === 1);
  for (const [at, part] of [...cluster.consoles, ...cluster.services].entries()) {
    const during = people.work(`killed-${at}`);
    await part.process.stop("SIGKILL");
    await during;
    await part.begin();
  }
  cluster.runner.does("run");
  cluster.runner.letGo();
  expect([0, 502]).toContain((await cut).status);
  const again = await people.answered("a console says what became of it", () => people.submit(UNANSWERED, "own"), { mayBeUnknown: true });
  expect(JSON.parse(again.text).message).toBe("The console ended while it waited for the service's answer.");
  expect(people.sentFor(UNANSWERED)).toBe(1);
  await people.expectAllOnce();
  expect((await people.jobOf(held ?? "")).runner).toMatchObject({ label: "GPU", attempt: 1 });
});

test("a script runs an app twice with one key while a console is killed: once", async () => {
  for (const [at, console] of cluster.consoles.entries()) {
    const key = `key-of-a-script-${at}-${UNANSWERED}`;
    const [other] = cluster.consoles.filter((one) => one !== console);
    const first = people.runApp(key, `http://127.0.0.1:${console.port}`);
    await until("the service has it", () => people.sentFor(key) === 1);
    const second = people.runApp(key, `http://127.0.0.1:${other?.port}`);
    await console.process.stop("SIGKILL");
    expect((await first).status).toBe(0);
    const stateOf = ({ status, text }: Answer) => [status, JSON.parse(text).run.state];
    // It may have been asked before the console's end was known.
    expect(stateOf(await second)).toEqual([202, expect.toBeOneOf(["sending", "unknown"])]);
    const again = () => people.answered("it is run again", () => people.runApp(key));
    await until("its end is known", async () => stateOf(await again())[1] !== "sending");
    expect(stateOf(await again())).toEqual([202, "unknown"]);
    expect(people.sentFor(key)).toBe(1);
    await console.begin();
  }
});

test("the database is started anew: the reason is said meanwhile, and what was asked is done once", async () => {
  const before = people.work("before-the-restart");
  await cluster.postgres.stop();
  const key = "key-while-it-is-away-0";
  for (const answer of [await people.list(), await people.submit(key, "own"), await people.runApp(key)]) expectRefusedWell(answer);
  expect(people.sentFor(key)).toBe(0);
  const during = people.work("restarted");
  await cluster.postgres.start();
  await Promise.all([before, during]);
  await people.expectAllOnce();
});

test("the line to the database is cut: what was asked meanwhile is answered once it is mended", async () => {
  cluster.line.cut();
  const during = people.work("cut");
  await until("something was said to the database", () => cluster.line.heldBytes() > 0);
  expect(cluster.gate.seen.filter((asked) => isPrompt(asked) && asked.body.includes("key-cut-"))).toEqual([]);
  cluster.line.mend();
  await during;
  await people.expectAllOnce();
});

test("others take all connections of the database: it is said, and goes on by itself once there are some", async () => {
  const others: pg.Client[] = [];
  const fill = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: cluster.postgres.url });
    client.on("error", () => undefined);
    const isIn = await client.connect().then(
      () => true,
      () => false,
    );
    if (!isIn) return;
    others.push(client);
    return fill();
  };
  const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'lightdesk%'";
  await fill();
  await until("no console has a connection", async () => {
    await others[0]?.query(end);
    await fill();
    const answer = await people.list();
    if (answer.status !== 200) expectRefusedWell(answer);
    return answer.status === 503;
  });
  const [last, ...rest] = others;
  await Promise.all(rest.map((client) => client.end()));
  const open = "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name NOT LIKE 'lightdesk%'";
  await until("the others have left", async () => (await last?.query(open))?.rows.length === 1);
  await last?.end();
  await people.work("filled");
  await people.expectAllOnce();
});

test("a newer version changes the tables while the older one runs, which goes on; one that starts then says so and changes nothing", async () => {
  const during = people.work("before-it");
  for (const table of ["sessions", "members", "submissions", "lightdesk_service.jobs", "lightdesk_service.attempts"])
    await ask(cluster.url, `ALTER TABLE ${table} ADD COLUMN newer text`);
  await ask(cluster.url, "INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-newer', '2030-01-01T00:00:00.000Z')");
  await ask(cluster.url, "INSERT INTO lightdesk_service.migrations (name, applied_at) VALUES ('9999-newer', 0)");
  await during;
  await people.work("after-it");
  for (const [older] of [cluster.consoles, cluster.services]) {
    await older?.process.stop();
    await expect(older?.begin()).rejects.toThrow(/written by another, probably newer version/);
  }
  await people.expectAllOnce();
});
