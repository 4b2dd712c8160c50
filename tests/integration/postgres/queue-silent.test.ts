// The queue's connections to a database that go silent without being cut.
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { enqueueAll } from "@/lib/service/jobs/queue/queue-entries";
import { createQueueWorker, migrateQueue, openQueuePool } from "@/lib/service/jobs/queue/queue-worker";
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
  await processes.start(1);
});
afterEach(async () => {
  await processes.close();
  await database.close();
  line.close();
  await own.drop();
});

it("searches over another connection when one goes silent, and takes what waits", async () => {
  const making = await openQueuePool(own.url);
  await migrateQueue(making, log);
  await making.end();
  const pgPool = await openQueuePool(own.url.replace(/:\d+\//, `:${line.port}/`), { statementMs: 1000, connectMs: 500 });
  let searches = 0;
  const taken: unknown[] = [];
  const worker = createQueueWorker(
    { pgPool, processes, database, log },
    {
      kindsToSkip() {
        searches += 1;
        return [];
      },
      take: (payload) => Promise.resolve(void taken.push(payload)),
    },
  );
  worker.start();
  await until("it has searched", () => searches >= 2);
  line.forget();
  const before = searches;
  worker.nudge();
  await until("the silent search was given up", () => searches >= before + 2);
  await database.commit((tx) => enqueueAll(tx, [{ seq: 1, userId: 1, kind: "|" }]));
  await until("what waits is taken", () => taken.length > 0);
  expect(taken).toMatchObject([{ seq: 1, userId: 1 }]);
  // The lease reports an outage; the queue does not.
  expect(complaints).toEqual([]);
  await worker.stop();
  await pgPool.end();
});
