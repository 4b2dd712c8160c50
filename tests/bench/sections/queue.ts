import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import pg from "pg";
import { createDatabase, startPostgres } from "@/tests/support/postgres-server";
import { percentile, table } from "../figures";
import { clock, libraries, type LibraryName, type Order, type Report } from "../queue/process";
import { type Entry, LEASE_SECONDS } from "../queue/queue-library";
import { type Section } from "../section";

const COUNTS = [1, 2, 4];
const SLOTS = 8;
const ENQUEUED = 1000;
const WAITING = 100_000;
const USERS = 100;
const CLAIMED = 1000;
const PICKED_UP = 200;
const KINDS = ["first", "second"];

/** A library in place of the service's queue over PostgreSQL, with both ways of giving jobs only to capable processes (decision 63). */
export const queue: Section = {
  name: "queue",
  isOnDemand: true,
  async measure({ print, tell }) {
    const server = await startPostgres({ isDurable: true });
    const columns: string[][] = [];
    for (const name of Object.keys(libraries) as LibraryName[]) {
      tell(name);
      const figures = await measureOne(name, server.url, tell);
      if (columns.length === 0) columns.push(["", ...figures.map(([label]) => label)]);
      columns.push([name, ...figures.map(([, figure]) => figure)]);
    }
    await server.remove();
    const [head = [], ...rows] = (columns[0] ?? []).map((_, row) => columns.map((column) => column[row] ?? ""));
    print(`## Queues over PostgreSQL, ${SLOTS} slots in each process`);
    print(table(head, rows));
  },
};

async function measureOne(name: LibraryName, serverUrl: string, tell: (text: string) => void): Promise<[label: string, figure: string][]> {
  const figures: [string, string][] = [];
  const add = (label: string, figure: string) => {
    tell(`  ${label}: ${figure}`);
    figures.push([label, figure]);
  };
  for (const count of COUNTS) {
    const world = await begin(name, serverUrl, count);
    const begun = clock();
    await Promise.all(world.processes.map((one, index) => one.enqueue(index * ENQUEUED, (index + 1) * ENQUEUED)));
    add(`enqueued a second by ${named(count)}`, perSecond(count * ENQUEUED, clock() - begun));
    add(`claimed and ended a second by ${named(count)}`, await world.claims(count * ENQUEUED));
    await world.end();
  }
  for (const count of COUNTS) {
    const world = await begin(name, serverUrl, count);
    await world.fill("first", WAITING);
    add(`the same while ${shown(WAITING)} wait, by ${named(count)}`, await world.claims(CLAIMED));
    if (count === 1) add(`furthest that one of ${USERS} users was ahead, jobs`, String(furthestAhead(world.claimed())));
    await world.end();
  }

  const blocked = await begin(name, serverUrl, 1);
  await blocked.fill("second", WAITING / 2);
  await blocked.fill("first", WAITING / 2, WAITING / 2);
  add(`the same behind ${shown(WAITING / 2)} that the process cannot do`, await blocked.claims(CLAIMED / 4));
  await blocked.end();

  const idle = await begin(name, serverUrl, 1);
  const delays = await pickUps(idle);
  add("committed to claimed, idle, p50 and p95", `${percentile(delays, 0.5).toFixed(1)} and ${percentile(delays, 0.95).toFixed(1)} ms`);
  await idle.end();

  const full = await begin(name, serverUrl, 1);
  await full.fill("first", WAITING);
  const begun = clock();
  await full.library.cancel(
    full.pool,
    Array.from({ length: WAITING }, (_, seq) => seq),
  );
  add(`${shown(WAITING)} that wait cancelled`, `${((clock() - begun) / 1000).toFixed(1)} s`);
  await full.end();

  const killed = await begin(name, serverUrl, 2);
  add(`from a killed process to another, lease ${LEASE_SECONDS} s`, `${(await handOver(killed)).toFixed(1)} s`);
  await killed.end();

  const alive = await begin(name, serverUrl, 2);
  add(`claims of a job of ${LEASE_SECONDS * 2 + 2} s in a process that lives`, String(await claimsOfALongJob(alive)));
  await alive.end();
  return figures;
}

type World = Awaited<ReturnType<typeof begin>>;

/** A database of its own with `count` processes on it. */
async function begin(name: LibraryName, serverUrl: string, count: number) {
  const database = await createDatabase(serverUrl);
  const pool = new pg.Pool({ connectionString: database.url, max: 4 });
  pool.on("error", () => undefined);
  await pool.query("CREATE TABLE bench_users (id integer PRIMARY KEY, turn bigint NOT NULL DEFAULT 0)");
  await pool.query("CREATE TABLE bench_jobs (seq integer PRIMARY KEY, user_id integer NOT NULL)");
  await pool.query("INSERT INTO bench_users (id) SELECT generate_series(0, $1 - 1)", [USERS]);
  const library = libraries[name]();
  await library.prepare(pool, KINDS);
  const processes = await Promise.all(Array.from({ length: count }, () => startOne(name, database.url)));
  const claimed = () => processes.flatMap((one) => one.claimed).sort(([, one], [, other]) => one - other);

  return {
    library,
    pool,
    processes,
    claimed,

    /** The entries of all users in order, each with their first turns: the worst case for a queue that serves in order of arrival. */
    async fill(kind: string, count: number, from = 0): Promise<void> {
      const each = count / USERS;
      for (let user = 0; user < USERS; user++) {
        const entryOf = (index: number): Entry => ({ seq: from + user * each + index, turn: from / USERS + index, kind });
        await library.enqueue(
          pool,
          Array.from({ length: each }, (_, index) => entryOf(index)),
        );
      }
      await pool.query("VACUUM ANALYZE");
    },

    /** From the first claim to the last of that many. */
    async claims(count: number): Promise<string> {
      for (const one of processes) one.send({ do: "serve", slots: SLOTS, kinds: ["first"], allKinds: KINDS, jobMs: 0 });
      await until(() => claimed().length >= count);
      const times = claimed().map(([, at]) => at);
      return perSecond(count, (times[count - 1] ?? 0) - (times[0] ?? 0));
    },

    async end(): Promise<void> {
      for (const one of processes) await one.kill();
      await pool.end();
      await database.drop();
    },
  };
}

async function startOne(name: LibraryName, url: string) {
  const child: ChildProcess = fork("dist/bench-queue.mjs", [name, url]);
  const claimed: [seq: number, at: number][] = [];
  let wake = (): void => undefined;
  child.on("message", (report: Report) => ("claimed" in report ? claimed.push(...report.claimed) : wake()));
  await new Promise<void>((resolve) => (wake = resolve));
  const send = (order: Order) => child.send(order);
  return {
    claimed,
    send,
    enqueue: (from: number, to: number) =>
      new Promise<void>((resolve) => {
        wake = resolve;
        send({ do: "enqueue", from, to, users: USERS });
      }),
    async kill(): Promise<void> {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** By order of the claims: the most jobs that any user was ever ahead of another. */
function furthestAhead(claimed: readonly [seq: number, at: number][]): number {
  const served = new Map<number, number>(Array.from({ length: USERS }, (_, user) => [user, 0]));
  let furthest = 0;
  for (const [seq] of claimed) {
    const user = Math.floor(seq / (WAITING / USERS));
    served.set(user, (served.get(user) ?? 0) + 1);
    furthest = Math.max(furthest, (served.get(user) ?? 0) - Math.min(...served.values()));
  }
  return furthest;
}

async function pickUps({ processes, library, pool, claimed }: World): Promise<number[]> {
  for (const one of processes) one.send({ do: "serve", slots: SLOTS, kinds: ["first"], allKinds: KINDS, jobMs: 0 });
  await pause(1500);
  const delays: number[] = [];
  for (let seq = 0; seq < PICKED_UP; seq++) {
    await library.enqueue(pool, [{ seq, turn: seq, kind: "first" }]);
    const committed = clock();
    await until(() => claimed().some(([one]) => one === seq));
    delays.push(Math.max(0, (claimed().find(([one]) => one === seq)?.[1] ?? 0) - committed));
    await pause(20);
  }
  return delays;
}

/** Seconds from the death of the process that runs a job until the other process claims it. */
async function handOver({ processes, library, pool }: World): Promise<number> {
  const [first, second] = processes;
  if (!first || !second) throw new Error("it takes two processes");
  const serve: Order = { do: "serve", slots: 1, kinds: ["first"], allKinds: KINDS, jobMs: 0, most: 1 };
  await library.enqueue(pool, [{ seq: 1, turn: 1, kind: "first" }]);
  first.send(serve);
  await until(() => first.claimed.length === 1);
  second.send(serve);
  await pause(2000);
  await first.kill();
  const died = clock();
  await until(() => second.claimed.length === 1);
  return (clock() - died) / 1000;
}

async function claimsOfALongJob({ processes, library, pool, claimed }: World): Promise<number> {
  const jobMs = (LEASE_SECONDS * 2 + 2) * 1000;
  for (const one of processes) one.send({ do: "serve", slots: 1, kinds: ["first"], allKinds: KINDS, jobMs });
  await library.enqueue(pool, [{ seq: 1, turn: 1, kind: "first" }]);
  await pause(jobMs + 1000);
  return claimed().length;
}

const shown = (count: number) => count.toLocaleString("en");
const named = (processes: number) => (processes === 1 ? "one process" : `${processes} processes`);
const perSecond = (count: number, ms: number) => shown(Math.round((count / ms) * 1000));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(isSo: () => boolean): Promise<void> {
  const end = Date.now() + 120_000;
  while (!isSo()) {
    if (Date.now() > end) throw new Error("the queue gave nothing for two minutes");
    await pause(5);
  }
}
