// Kills the process with SIGKILL at random moments of a mixed load, and restarts it repeatedly on the same folder.
// All randomness follows from a seed. LIGHTDESK_TEST_SEED repeats the same rounds.
import { join } from "node:path";
import { expect, it } from "vitest";
import { createHttpClient, createKey, startServiceProcess } from "../support/service-process";
import { createTemporaryFolder } from "../support/temporary-folder";
import { until } from "../support/until";
import { auditResponses, listAllJobs } from "./kill/audit-responses";
import { auditStore, installTrace } from "./kill/audit-store";
import { loadUntilCut, prepareUser, sendStalledUpload } from "./kill/load";
import { createRandom, type Random } from "./kill/load-inputs";
import { createOperationLog, type OperationLog } from "./kill/operation-log";

const FOLDER_COUNT = 2;
const ROUND_COUNT = 10;
const seed = Number(process.env.LIGHTDESK_TEST_SEED ?? Date.now() % 1_000_000);

it("loses no acknowledged work and ends, restores or leaks nothing twice", async () => {
  const folders = Array.from({ length: FOLDER_COUNT }, () => createTemporaryFolder());
  const outcomes = await Promise.allSettled(folders.map((folder, index) => killRepeatedly(folder, createRandom(seed + index))));
  for (const outcome of outcomes) {
    if (outcome.status === "rejected")
      throw new Error(`With LIGHTDESK_TEST_SEED=${seed}: ${String(outcome.reason)}`, { cause: outcome.reason });
  }
}, 300_000);

async function killRepeatedly(dataDir: string, random: Random): Promise<void> {
  const operationLogs: OperationLog[] = [];
  for (const user of ["ada", "bob"]) operationLogs.push(createOperationLog(user, await createKey(dataDir, user)));
  installTrace(join(dataDir, "service", "service.sqlite"));

  for (let round = 0; round < ROUND_COUNT; round += 1) {
    const service = await startServiceProcess(dataDir);
    for (const operationLog of operationLogs) {
      const client = createHttpClient(service.url, operationLog.key);
      if (round === 0) await prepareUser(client, operationLog);
      else await auditResponses(client, operationLog);
    }
    const loads = operationLogs.flatMap((operationLog) =>
      [1, 2, 3].map(() =>
        loadUntilCut({ client: createHttpClient(service.url, operationLog.key), operationLog, random, url: service.url }),
      ),
    );
    const [first] = operationLogs;
    if (first)
      loads.push(sendStalledUpload({ url: service.url, key: first.key, bytes: 1 + random.integerBelow(300_000), disconnects: false }));
    const loadResult = Promise.all(loads);
    loadResult.catch(() => undefined); // reported below, after the process has ended
    const targetCount = countEvents(operationLogs) + 10 + random.integerBelow(250);
    await Promise.race([
      until("the load has reached the target", () => countEvents(operationLogs) >= targetCount, { everyMs: 1, timeoutMs: 30_000 }),
      loadResult,
    ]);
    // Kills not only right after a response, but also a few milliseconds into the following work.
    await new Promise((resolve) => setTimeout(resolve, random.integerBelow(12)));
    await service.stop("SIGKILL");
    await loadResult;
    for (const operationLog of operationLogs) operationLog.cancelsOpen = operationLog.clearsOpen = 0;
  }

  const service = await startServiceProcess(dataDir);
  for (const operationLog of operationLogs) {
    const client = createHttpClient(service.url, operationLog.key);
    await auditResponses(client, operationLog);
    await until("everything has ended", async () => [...(await listAllJobs(client)).values()].every(hasEnded), { timeoutMs: 60_000 });
    await auditResponses(client, operationLog);
    expect(operationLog.jobs.size).toBeGreaterThan(ROUND_COUNT);
    expect(operationLog.assets.size).toBeGreaterThan(ROUND_COUNT);
  }
  expect(await service.stop()).toBe(0);
  expect(service.output()).not.toMatch(/"level":50/);
  auditStore(join(dataDir, "service"), operationLogs);
}

function countEvents(operationLogs: readonly OperationLog[]): number {
  return operationLogs.reduce((sum, operationLog) => sum + operationLog.eventCount, 0);
}

function hasEnded(status: string): boolean {
  return status !== "pending" && status !== "in_progress";
}
