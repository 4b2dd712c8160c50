// Two consoles behind nginx on one PostgreSQL, a service on a port, and what befalls them while people work: none is signed out, what was
// acknowledged is there, nothing runs twice, and whatever is refused is said in words.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test as anywhere, vi } from "vitest";
import { findOrInstall } from "@/bin/browser.mjs";
import { freePort } from "../support/free-port";
import { type Line, startLine } from "../support/line";
import { type LittleServer } from "../support/little-server";
import { startNginx } from "../support/nginx";
import { ask, createDatabase, type PostgresServer, startPostgres } from "../support/postgres-server";
import { isPrompt, startServiceGate } from "../support/service-gate";
import { createKey, type ServiceProcess, startServiceProcess } from "../support/service-process";
import { type Started, startProcess } from "../support/start-process";
import { until } from "../support/until";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const program = await findOrInstall("nginx", "nginx-light");
const test = anywhere.skipIf(program === undefined);
const owner = { name: "Ada Owner", email: "ada@example.com", password: "correct horse battery" };
const FIVE_MINUTES_MS = 300_000;
/** What it is loaded before says that it is later. */
const laterBy = (ms: number) =>
  `--import=data:text/javascript,${encodeURIComponent(
    `const Real=Date;globalThis.Date=class extends Real{constructor(...a){a.length?super(...a):super(Real.now()+${ms})}static now(){return Real.now()+${ms}}}`,
  )}`;
const UNANSWERED = "a-key-without-an-answer";
/** So many are on their way at once. */
const AT_ONCE = 6;

let folder: string;
let postgres: PostgresServer;
let url: string;
let line: Line;
let service: ServiceProcess;
let gate: LittleServer;
let nginx: Started | undefined;
let front: string;
let cookie: string;
let connection: string;
type Desk = { port: number; settings: Record<string, string>; process: Started };
const desks: Desk[] = [];
/** By their keys: the jobs of what was acknowledged. */
const acknowledged = new Map<string, string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lightdesk-consoles-"));
  postgres = await startPostgres({ connections: 80 });
  ({ url } = await createDatabase(postgres.url));
  line = await startLine(Number(new URL(url).port));
  const key = await createKey(join(folder, "service"), "ada");
  service = await startServiceProcess(join(folder, "service"));
  gate = await startServiceGate(service, (asked) => (isPrompt(asked) && asked.body.includes(UNANSWERED) ? "unanswered" : undefined));
  const port = await freePort();
  front = `http://127.0.0.1:${port}`;
  const shared = {
    DATABASE_URL: url.replace(/:\d+\//, `:${line.port}/`),
    LIGHTDESK_BLOBS: join(folder, "bytes"),
    LIGHTDESK_ENCRYPTION_KEYS: `one:${Buffer.alloc(32, 1).toString("base64")}`,
    LIGHTDESK_PUBLIC_URL: front,
    LIGHTDESK_TRUST_PROXY: "127.0.0.1",
  };
  // Both at once, on an empty database.
  const clocks: Record<string, string>[] = [{}, { NODE_OPTIONS: laterBy(FIVE_MINUTES_MS) }];
  for (const [at, own] of clocks.entries()) {
    const place = { PORT: String(await freePort()), LIGHTDESK_DATA_DIR: join(folder, `console-${at}`) };
    const settings = { ...shared, ...own, ...place };
    desks.push({ port: Number(place.PORT), settings, process: startProcess("dist/console.mjs", settings) });
  }
  const links = await Promise.all(desks.map(({ process }) => process.printed("Set up")));
  if (program === undefined) throw new Error("without nginx nothing here runs");
  nginx = startNginx(program, await mkdtemp(join(folder, "nginx-")), { front: port, consoles: desks.map((desk) => desk.port), below: 9 });
  await until("nginx answers", async () => (await fetch(`${front}/api/health/live`).catch(() => undefined))?.ok);
  const token = new URL(links[1] ?? "").searchParams.get("token");
  expect((await request("/api/console/set-up", { json: { token, ...owner } })).status).toBe(201);
  cookie = await signIn();
  const json = { name: "The service", baseUrl: gate.url, key, shared: true };
  const made = await request("/api/console/connections", { json });
  connection = JSON.parse(made.text).connection.id;
});
afterAll(async () => {
  for (const { process } of desks) await process.stop("SIGKILL");
  await nginx?.stop();
  await service.stop();
  await gate.close();
  line.close();
  await postgres.remove();
  await rm(folder, { recursive: true, force: true });
});

type Answer = { status: number; text: string; setCookies: string[] };

/** As a browser does it; status 0 where the line broke. */
async function request(path: string, asking: { json?: unknown; headers?: Record<string, string>; to?: string } = {}): Promise<Answer> {
  const { json, headers, to = front } = asking;
  const sent = { cookie: cookie ?? "", ...(json !== undefined && { origin: front, "content-type": "application/json" }), ...headers };
  try {
    const answer = await fetch(to + path, { headers: sent, ...(json !== undefined && { method: "POST", body: JSON.stringify(json) }) });
    return { status: answer.status, text: await answer.text(), setCookies: answer.headers.getSetCookie() };
  } catch {
    return { status: 0, text: "", setCookies: [] };
  }
}

async function signIn(): Promise<string> {
  const cookiesOf = (answer: Response) => answer.headers.getSetCookie().map((one) => one.split(";")[0]);
  const begun = await fetch(`${front}/api/auth/csrf`);
  const { csrfToken } = (await begun.json()) as { csrfToken: string };
  const body = new URLSearchParams({ csrfToken, email: owner.email, password: owner.password, json: "true" });
  const headers = { cookie: cookiesOf(begun).join("; "), origin: front };
  const done = await fetch(`${front}/api/auth/callback/credentials`, { method: "POST", body, headers, redirect: "manual" });
  expect(done.status).toBe(200);
  return cookiesOf(done).join("; ");
}

const list = () => request(`/api/jobs?connection=${connection}&limit=5`);
const submit = (key: string) =>
  request(`/api/prompt?connection=${connection}`, {
    headers: { "idempotency-key": key },
    json: {
      prompt: {
        "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 7 } },
        "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: key } },
      },
    },
  });
const sentFor = (key: string) => gate.seen.filter((asked) => isPrompt(asked) && asked.body.includes(`"${key}"`)).length;

/** The console says what is the matter, the proxy that it had no answer; nothing signs out. */
function expectRefusedWell({ status, text, setCookies }: Answer): void {
  expect([0, 502, 503], text).toContain(status);
  expect(setCookies).toEqual([]);
  if (status === 503) expect(JSON.parse(text)).toMatchObject({ code: "SERVICE_UNAVAILABLE", message: expect.stringContaining("database") });
}

/** Asked again until it is answered, as pages do it. */
function answered(what: string, asking: () => Promise<Answer>): Promise<Answer> {
  return until(what, async () => {
    const answer = await asking();
    if (answer.status === 200) return answer;
    expectRefusedWell(answer);
    return undefined;
  });
}

/** Several submit and look at once; what is acknowledged is remembered. */
async function work(name: string): Promise<void> {
  const one = async (at: number) => {
    const key = `key-${name}-${at}-of-a-submission`;
    const { text } = await answered(`${key} is accepted`, () => submit(key));
    acknowledged.set(key, JSON.parse(text).prompt_id);
    await answered("the list is read", list);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => one(at)));
}

/** Of all that was ever acknowledged. */
async function expectAllOnce(): Promise<void> {
  for (const [key, job] of acknowledged) {
    expect(JSON.parse((await answered("the same key again", () => submit(key))).text).prompt_id).toBe(job);
    expect(sentFor(key), key).toBe(1);
    const filename = await until(`the job of ${key} has ended`, async () => {
      const { text } = await answered("the job is read", () => request(`/api/jobs/${job}?connection=${connection}`));
      const { status, outputs } = JSON.parse(text);
      return status === "completed" && outputs["2"].images[0].filename;
    });
    await answered("its result is read", () => request(`/api/view?connection=${connection}&type=output&filename=${filename}`));
  }
  expect(new Set(acknowledged.values()).size).toBe(acknowledged.size);
}

test("each console is killed in turn: the other goes on, and what was cut is neither sent again nor told as done", async () => {
  const cut = submit(UNANSWERED);
  await until("the service has it", () => sentFor(UNANSWERED) === 1);
  for (const [at, desk] of desks.entries()) {
    await desk.process.stop("SIGKILL");
    await work(`killed-${at}`);
    desk.process = startProcess("dist/console.mjs", desk.settings);
    await desk.process.printed("Lightdesk");
    const direct = `http://127.0.0.1:${desk.port}`;
    expect((await request(`/api/jobs?connection=${connection}&limit=5`, { to: direct })).status).toBe(200);
  }
  expect([0, 502]).toContain((await cut).status);
  const again = await until("a console says what became of it", async () => {
    const answer = await submit(UNANSWERED);
    return answer.status !== 0 && answer.status !== 502 && answer;
  });
  expect(JSON.parse(again.text).message).toBe("The console ended while it waited for the service's answer.");
  expect(sentFor(UNANSWERED)).toBe(1);
  await expectAllOnce();
});

test("the database is started anew: meanwhile nothing is sent and the reason is said, then the same keys are sent once", async () => {
  await postgres.stop();
  const key = "key-while-it-is-away-0";
  for (const answer of [await list(), await submit(key)]) expectRefusedWell(answer);
  expect(sentFor(key)).toBe(0);
  const during = work("restarted");
  await postgres.start();
  await during;
  await expectAllOnce();
});

test("the line to the database is cut: what was asked meanwhile is answered once it is mended", async () => {
  line.cut();
  const during = work("cut");
  await until("something was said to the database", () => line.heldBytes() > 0);
  expect(gate.seen.filter((asked) => isPrompt(asked) && asked.body.includes("key-cut-"))).toEqual([]);
  line.mend();
  await during;
  await expectAllOnce();
});

test("others take all connections of the database: it is said, and goes on by itself once there are some", async () => {
  const others: pg.Client[] = [];
  const fill = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: postgres.url });
    client.on("error", () => undefined);
    const isIn = await client.connect().then(
      () => true,
      () => false,
    );
    if (!isIn) return;
    others.push(client);
    return fill();
  };
  const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lightdesk'";
  await fill();
  await until("no console has a connection", async () => {
    await others[0]?.query(end);
    await fill();
    const answer = await list();
    if (answer.status !== 200) expectRefusedWell(answer);
    return answer.status === 503;
  });
  const [last, ...rest] = others;
  await Promise.all(rest.map((client) => client.end()));
  const open = "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name <> 'lightdesk'";
  await until("the others have left", async () => (await last?.query(open))?.rows.length === 1);
  await last?.end();
  await work("filled");
  await expectAllOnce();
});

test("a newer version changes the tables while the older one runs, which goes on; one that starts then says so and changes nothing", async () => {
  const during = work("before-it");
  await ask(url, "ALTER TABLE sessions ADD COLUMN newer text");
  await ask(url, "ALTER TABLE members ADD COLUMN newer text");
  await ask(url, "ALTER TABLE submissions ADD COLUMN newer text");
  await ask(url, "INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-newer', '2030-01-01T00:00:00.000Z')");
  await during;
  await work("after-it");
  const [older] = desks;
  if (!older) throw new Error("no console");
  await older.process.stop();
  older.process = startProcess("dist/console.mjs", older.settings);
  await expect(older.process.printed("Lightdesk")).rejects.toThrow(/written by another, probably newer version/);
  await expectAllOnce();
});
