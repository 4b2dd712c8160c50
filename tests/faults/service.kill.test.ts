// The process is killed with SIGKILL at random moments of a mixed load, again and again, each time on the folder it left behind.
// All randomness follows from a seed; LIGHTDESK_TEST_SEED runs the same rounds again.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, httpClient, startServiceProcess } from "../support/service-process";
import { until } from "../support/until";
import { auditAnswers, listAllJobs } from "./kill/audit-answers";
import { auditStore } from "./kill/audit-store";
import { sendHalf } from "./kill/half-upload";
import { loadUntilCut, prepareUser } from "./kill/load";
import { createOperationLog, type OperationLog } from "./kill/operation-log";
import { createRandom, type Random } from "./kill/random";
import { installTrace } from "./kill/trace";

const FOLDERS = 2;
const ROUNDS = 16;
const seed = Number(process.env.LIGHTDESK_TEST_SEED ?? Date.now() % 1_000_000);

describe("kill -9", () => {
  const folders: string[] = [];
  beforeAll(async () => {
    for (let n = 0; n < FOLDERS; n += 1) folders.push(await mkdtemp(join(tmpdir(), "lightdesk-kill-")));
  });
  afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

  it("loses no acknowledged work and ends, restores or leaks nothing twice", async () => {
    const outcomes = await Promise.allSettled(folders.map((folder, index) => killAgainAndAgain(folder, createRandom(seed + index))));
    for (const outcome of outcomes) {
      if (outcome.status === "rejected")
        throw new Error(`With LIGHTDESK_TEST_SEED=${seed}: ${describeError(outcome.reason)}`, { cause: outcome.reason });
    }
  }, 300_000);
});

async function killAgainAndAgain(dataDir: string, random: Random): Promise<void> {
  const operationLogs: OperationLog[] = [];
  for (const user of ["ada", "bob"]) operationLogs.push(createOperationLog(user, await createKey(dataDir, user)));
  installTrace(join(dataDir, "service", "service.sqlite"));

  for (let round = 0; round < ROUNDS; round += 1) {
    const service = await startServiceProcess(dataDir);
    for (const operationLog of operationLogs) {
      const client = httpClient(service.url, operationLog.key);
      if (round === 0) await prepareUser(client, operationLog);
      else await auditAnswers(client, operationLog);
    }
    const loads = operationLogs.flatMap((operationLog) =>
      [1, 2, 3].map(() => loadUntilCut({ client: httpClient(service.url, operationLog.key), operationLog, random, url: service.url })),
    );
    const [first] = operationLogs;
    if (first) loads.push(sendHalf({ url: service.url, key: first.key, bytes: 1 + random.below(300_000), goesAway: false }));
    const failed = Promise.all(loads);
    failed.catch(() => undefined); // reported below, after the process has gone
    const enough = moments(operationLogs) + 10 + random.below(250);
    await Promise.race([
      until("the load has come this far", () => moments(operationLogs) >= enough, { everyMs: 1, timeoutMs: 30_000 }),
      failed,
    ]);
    // Kills not only right after a response but also a few milliseconds into the following work.
    await new Promise((resolve) => setTimeout(resolve, random.below(12)));
    await service.stop("SIGKILL");
    await failed;
    for (const operationLog of operationLogs) operationLog.cancelsOpen = operationLog.clearsOpen = 0;
  }

  const service = await startServiceProcess(dataDir);
  for (const operationLog of operationLogs) {
    const client = httpClient(service.url, operationLog.key);
    await auditAnswers(client, operationLog);
    await until("everything has ended", async () => [...(await listAllJobs(client)).values()].every(hasEnded), { timeoutMs: 60_000 });
    await auditAnswers(client, operationLog);
    expect(operationLog.jobs.size).toBeGreaterThan(ROUNDS);
    expect(operationLog.assets.size).toBeGreaterThan(ROUNDS);
  }
  expect(await service.stop()).toBe(0);
  expect(service.output()).not.toMatch(/"level":50/);
  auditStore(join(dataDir, "service"), operationLogs);
}

function moments(operationLogs: readonly OperationLog[]): number {
  return operationLogs.reduce((sum, operationLog) => sum + operationLog.moments, 0);
}

function hasEnded(status: string): boolean {
  return status !== "pending" && status !== "in_progress";
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
