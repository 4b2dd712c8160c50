// Stopping with SIGTERM under load, and the lock of the data folder.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { createWaitGraph, submitGraph, waitForStart } from "../integration/service/support";
import { createHttpClient, createKey, runServiceCommand, startServiceProcess } from "../support/service-process";
import { runProcess } from "../support/start-process";
import { until } from "../support/until";
import { listAllJobs } from "./kill/audit-responses";
import { installTrace } from "./kill/audit-store";
import { isCut, sendStalledUpload } from "./kill/load";

let dataDir: string;
beforeEach(() => void (dataDir = createTemporaryFolder()));

/** Repeats the step until the connection is cut or the service is stopping. */
async function repeatUntilRefused(step: (n: number) => Promise<number>): Promise<void> {
  try {
    for (let index = 0; (await step(index)) < 500; index += 1);
  } catch (error) {
    if (!isCut(error)) throw error;
  }
}

describe("SIGTERM under load", () => {
  it("exits with 0, loses nothing and requeues long jobs without counting an attempt", async () => {
    const key = await createKey(dataDir, "ada");
    const file = join(dataDir, "service", "service.sqlite");
    installTrace(file);
    const service = await startServiceProcess(dataDir);
    const client = createHttpClient(service.url, key);
    const longId = await submitGraph(client, createWaitGraph(3000));
    await waitForStart(client, longId);

    const jobs = new Set([longId]);
    const assets = new Map<string, string>();
    const load = Promise.all([
      repeatUntilRefused(async (index) => {
        const response = await client.post("/api/prompt", { prompt: createWaitGraph((index % 5) / 50, 100 + index) });
        if (response.status === 200) jobs.add((response.body as { prompt_id: string }).prompt_id);
        return response.status;
      }),
      repeatUntilRefused(async (index) => {
        const text = `number ${index} `.repeat(3000);
        const response = await client.upload(text, `${index}.txt`);
        if (response.status === 201) assets.set((response.body as { id: string }).id, text);
        return response.status;
      }),
      sendStalledUpload({ url: service.url, key, bytes: 200_000, disconnects: false }),
    ]);
    await until("the load has started", () => jobs.size > 20 && assets.size > 5);
    // The test's timeout allows for the grace periods of 30 s, 10 s and 5 s.
    expect(await service.stop("SIGTERM")).toBe(0);
    await load;
    expect(service.output()).not.toMatch(/"level":50/);

    const database = new SqliteConnection(file, { readOnly: true });
    const states = database.prepare<[], { id: string; state: string; attempts: number }>("SELECT id, state, attempts FROM jobs").all();
    database.close();
    expect(states.filter(({ state }) => state === "in_progress")).toEqual([]);
    expect(states.find(({ id }) => id === longId)).toEqual({ id: longId, state: "pending", attempts: 0 });
    expect([...jobs].filter((id) => !states.some((state) => state.id === id))).toEqual([]);

    const restarted = await startServiceProcess(dataDir);
    const next = createHttpClient(restarted.url, key);
    for (const [id, text] of assets) expect((await next.get(`/api/assets/${id}/content`)).text).toBe(text);
    await until("the long job runs again", async () => (await next.post(`/api/jobs/${longId}/cancel`)).status === 200);
    const haveEnded = async () => [...(await listAllJobs(next)).values()].every((state) => /completed|cancelled/.test(state));
    await until("all jobs have ended", haveEnded, { timeoutMs: 40_000 });
    expect(await restarted.stop("SIGTERM")).toBe(0);
    const after = new SqliteConnection(file, { readOnly: true });
    const duplicateEndsQuery =
      "SELECT job FROM trace WHERE became IN ('completed', 'failed', 'cancelled') GROUP BY job HAVING count(*) > 1";
    expect(after.prepare(duplicateEndsQuery).all()).toEqual([]);
    after.close();
  }, 120_000);
});

describe("a data folder", () => {
  it("is locked to one process but lets commands run", async () => {
    const service = await startServiceProcess(dataDir);
    const second = await runProcess("dist/service.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: dataDir });
    expect(second).toEqual({ code: 1, output: expect.stringContaining(`in use by process ${service.pid}`) });
    expect(second.output).not.toContain("    at ");
    expect(await runServiceCommand(dataDir, "keys", "create", "--user", "ada")).toMatch(/^ld-/);
    await service.stop("SIGKILL");

    // The operating system has freed the lock; the pid in the file now belongs to another process.
    const pidFile = join(dataDir, "service", "lock.pid");
    expect(await readFile(pidFile, "utf8")).toBe(String(service.pid));
    await writeFile(pidFile, String(process.pid));
    const next = await startServiceProcess(dataDir);
    expect(await readFile(pidFile, "utf8")).toBe(String(next.pid));
    expect(await next.stop()).toBe(0);
  });

  it("is locked even if its lock file was overwritten", async () => {
    const first = await startServiceProcess(dataDir);
    await first.stop();
    await writeFile(join(dataDir, "service", "lock.sqlite"), "not a lock database ".repeat(100));
    const service = await startServiceProcess(dataDir);
    const second = await runProcess("dist/service.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: dataDir });
    expect(second).toEqual({ code: 1, output: expect.stringContaining(`in use by process ${service.pid}`) });
    expect(await service.stop()).toBe(0);
  });
});
