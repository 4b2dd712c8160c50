// The queue's connections to a database that go silent without being cut.
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { createClaimers, type Question } from "@/lib/service/jobs/queue/claimers";
import { enqueueAll, makeQueue } from "@/lib/service/jobs/queue/queue-entries";
import { openQueuePool } from "@/lib/service/jobs/queue/shared-queue";
import { type Database } from "@/lib/service/store/database";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { createPostgresProcesses } from "@/lib/service/store/postgres/processes";
import { type Processes } from "@/lib/service/store/processes";
import { type Line, startLine } from "@/tests/support/line";
import { createDatabase, type OwnDatabase } from "@/tests/support/postgres-server";
import { until } from "@/tests/support/until";

const complaints: unknown[] = [];
const log = { info: () => undefined, warn: () => undefined, error: (...said: unknown[]) => void complaints.push(said) };
let own: OwnDatabase;
let line: Line;
let database: Database;
let processes: Processes;

beforeEach(async () => {
  own = await createDatabase(inject("postgres"));
  line = await startLine(Number(new URL(own.url).port));
  database = await openPostgres(own.url, Date.now);
  processes = createPostgresProcesses(database, own.url, log);
  await processes.start();
});
afterEach(async () => {
  await processes.close();
  await database.close();
  line.close();
  await own.drop();
});

it("gives up its questions where no answer comes, asks over other connections, and takes what waits", async () => {
  const making = await openQueuePool(own.url);
  await makeQueue(making, log);
  await making.end();
  const pgPool = await openQueuePool(own.url.replace(/:\d+\//, `:${line.port}/`), { statementMs: 1000, connectMs: 500 });
  let vain = 0;
  let givenUp = 0;
  const taken: unknown[] = [];
  const claimers = createClaimers<Question>(
    { pgPool, processes, database, log, slots: 1 },
    {
      ask: () => ({ skip: [], foundNothing: () => void (vain += 1), giveUp: () => void (givenUp += 1) }),
      take: (payload) => Promise.resolve(void taken.push(payload)),
      news: () => undefined,
    },
  );
  claimers.start();
  await until("all four ask", () => vain >= 4);
  line.forget();
  await until("what they ask is given up", () => givenUp >= 4);
  await database.commit((tx) => enqueueAll(tx, [{ seq: 1, userId: 1, kind: "|" }]));
  await until("what waits is taken", () => taken.length > 0);
  expect(taken).toMatchObject([{ seq: 1, userId: 1 }]);
  // An outage is no fault of the queue: the lease tells of it.
  expect(complaints).toEqual([]);
  await claimers.stop();
  await pgPool.end();
});
