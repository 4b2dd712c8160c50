// SIGTERM in the middle of work, and which process may open a data folder.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { type Client } from "../support/service";
import { createKey, httpClient, serviceCommand, startServiceProcess } from "../support/service-process";
import { startProcess } from "../support/start-process";
import { until } from "../support/until";
import { listAllJobs } from "./kill/audit-answers";
import { sendHalf } from "./kill/half-upload";
import { isCut } from "./kill/load";
import { installTrace } from "./kill/trace";

let dataDir: string;
beforeEach(async () => {
  dataDir = temporaryFolder();
});

const graph = (seconds: number, color: number) => ({
  "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color } },
  "2": { class_type: "Wait", inputs: { seconds, anything: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "x" } },
});

/** Repeats the step until the connection is cut or the service is stopping. */
async function untilRefused(step: (n: number) => Promise<number>): Promise<void> {
  try {
    for (let n = 0; (await step(n)) < 500; n += 1);
  } catch (error) {
    if (!isCut(error)) throw error;
  }
}

async function submit(client: Client, seconds: number, color: number): Promise<{ status: number; id: string }> {
  const response = await client.post("/api/prompt", { prompt: graph(seconds, color) });
  return { status: response.status, id: String((response.body as { prompt_id?: string } | undefined)?.prompt_id) };
}

describe("SIGTERM under load", () => {
  it("exits with 0 in time, loses nothing and requeues long jobs without an attempt", async () => {
    const key = await createKey(dataDir, "ada");
    const file = join(dataDir, "service", "service.sqlite");
    installTrace(file);
    const service = await startServiceProcess(dataDir);
    const client = httpClient(service.url, key);
    const long = await submit(client, 3000, 1);
    await until(
      "the long job runs",
      async () => ((await client.get(`/api/jobs/${long.id}`)).body as { status: string }).status === "in_progress",
    );

    const jobs = new Set([long.id]);
    const assets = new Map<string, string>();
    const load = Promise.all([
      untilRefused(async (n) => {
        const { status, id } = await submit(client, (n % 5) / 50, 100 + n);
        if (status === 200) jobs.add(id);
        return status;
      }),
      untilRefused(async (n) => {
        const text = `number ${n} `.repeat(3000);
        const response = await client.upload(text, `${n}.txt`);
        if (response.status === 201) assets.set((response.body as { id: string }).id, text);
        return response.status;
      }),
      sendHalf({ url: service.url, key, bytes: 200_000, goesAway: false }),
    ]);
    await until("there is load", () => jobs.size > 20 && assets.size > 5);
    // The test's own timeout bounds this: graces of 30 s for requests, then 10 s and 5 s.
    expect(await service.stop("SIGTERM")).toBe(0);
    await load;
    expect(service.output()).not.toMatch(/"level":50/);

    const database = new SqliteConnection(file, { readOnly: true });
    const states = database.prepare<[], { id: string; state: string; attempts: number }>("SELECT id, state, attempts FROM jobs").all();
    database.close();
    expect(states.filter(({ state }) => state === "in_progress")).toEqual([]);
    expect(states.find(({ id }) => id === long.id)).toEqual({ id: long.id, state: "pending", attempts: 0 });
    expect([...jobs].filter((id) => !states.some((state) => state.id === id))).toEqual([]);

    const restarted = await startServiceProcess(dataDir);
    const next = httpClient(restarted.url, key);
    for (const [id, text] of assets) expect((await next.get(`/api/assets/${id}/content`)).text).toBe(text);
    await until("it runs again", async () => (await next.post(`/api/jobs/${long.id}/cancel`)).status === 200);
    await until("all have ended", async () => [...(await listAllJobs(next)).values()].every((state) => /completed|cancelled/.test(state)), {
      timeoutMs: 40_000,
    });
    expect(await restarted.stop("SIGTERM")).toBe(0);
    const after = new SqliteConnection(file, { readOnly: true });
    const twice = "SELECT job FROM trace WHERE became IN ('completed', 'failed', 'cancelled') GROUP BY job HAVING count(*) > 1";
    expect(after.prepare(twice).all()).toEqual([]);
    after.close();
  }, 120_000);
});

describe("a data folder", () => {
  it("locks its folder to one process but lets commands run alongside", async () => {
    const service = await startServiceProcess(dataDir);
    const second = startProcess("dist/service.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: dataDir });
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`in use by process ${service.pid}`);
    expect(second.output()).not.toContain("    at ");
    expect(await serviceCommand(dataDir, "keys", "create", "--user", "ada")).toMatch(/^ld-/);
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
    await writeFile(join(dataDir, "service", "lock.sqlite"), "nothing of a lock ".repeat(100));
    const service = await startServiceProcess(dataDir);
    const second = startProcess("dist/service.mjs", { PORT: "0", LIGHTDESK_DATA_DIR: dataDir });
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`in use by process ${service.pid}`);
    expect(await service.stop()).toBe(0);
  });
});
