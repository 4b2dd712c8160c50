// The length of the history: by age and by number, enforced in the background, for ended jobs alone.
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { evictOldest } from "@/lib/service/assets/folders";
import { startHousekeeping } from "@/lib/service/housekeeping";
import { createOnlyProcess } from "@/lib/service/store/processes";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { canvas, detail, ended, list, record, running, string, submit, waiting } from "./support";

const DAY_MS = 86_400_000;

describe("retention", () => {
  let bench: ServiceBench | undefined;
  afterEach(() => bench?.dispose());

  const idsOf = async (client: Client) => list(record((await client.get("/api/jobs")).body).jobs).map((job) => string(job.id));
  const historyOf = async (client: Client) =>
    list(record((await client.get("/api/history_v2?max_items=1000")).body).history).map((entry) => string(entry.prompt_id));

  it("is off by default: jobs of any age and number stay", async () => {
    let now = Date.now();
    bench = await startService({ now: () => now });
    const id = (await ended(bench.client("ada"), await submit(bench.client("ada"), canvas(1)))).id;
    await bench.service.stop();
    now += 10_000 * DAY_MS;
    bench = await startService({ dataDir: bench.folder, now: () => now });
    expect(await idsOf(bench.client("ada"))).toEqual([id]);
  });

  it("takes ended jobs beyond the age out of the history and the lists at the start; their assets stay", async () => {
    let now = Date.now();
    bench = await startService({ now: () => now, concurrency: 1 });
    const ada = bench.client("ada");
    const old = await ended(ada, await submit(ada, canvas(2)));
    const file = string(record(old.preview_output).filename);
    await bench.service.stop();
    now += 3 * DAY_MS;
    bench = await startService({ dataDir: bench.folder, now: () => now, concurrency: 1 });
    const recent = string((await ended(bench.client("ada"), await submit(bench.client("ada"), canvas(3)))).id);
    await bench.service.stop();
    now += 3 * DAY_MS;
    bench = await startService({ dataDir: bench.folder, now: () => now, retentionDays: 5, concurrency: 1 });
    const again = bench.client("ada");
    await until("the old job has left", async () => (await idsOf(again)).length === 1);
    expect([await idsOf(again), await historyOf(again)]).toEqual([[recent], [recent]]);
    expect((await again.get(`/api/jobs/${string(old.id)}`)).status).toBe(404);
    expect((await again.get(`/api/view?filename=${file}`)).status).toBe(200);
    expect(list(record((await again.get("/api/assets?include_public=false")).body).assets).map((asset) => asset.prompt_id)).toContain(
      old.id,
    );
  });

  it("keeps so many ended jobs of each user, the newest, while the service runs, and none that waits or runs is counted", async () => {
    bench = await startService({ retentionJobs: 2, concurrency: 1 });
    const [ada, bob] = [bench.client("ada"), bench.client("bob")];
    const bobs = string((await ended(bob, await submit(bob, canvas(1)))).id);
    const done: string[] = [];
    for (let color = 1; color <= 4; color += 1) done.push(string((await ended(ada, await submit(ada, canvas(color)))).id));
    const busy = await submit(ada, waiting(3600));
    await running(ada, busy);
    const pending = [await submit(ada, canvas(5)), await submit(ada, canvas(6)), await submit(ada, canvas(7))];
    await until("only the newest two are left", async () => (await historyOf(ada)).length === 2);
    expect((await historyOf(ada)).sort()).toEqual(done.slice(-2).sort());
    expect((await idsOf(ada)).sort()).toEqual([...done.slice(-2), busy, ...pending].sort());
    expect((await detail(ada, busy)).status).toBe("in_progress");
    expect(await idsOf(bob)).toEqual([bobs]);
    await ada.post("/api/interrupt");
    await ada.post("/api/queue", { clear: true });
  });
});

describe("housekeeping", () => {
  it("goes round again after a failure, tells it to the log, and waits for the round under way when it ends", async () => {
    const logged: string[] = [];
    const log = { info: () => undefined, warn: () => undefined, error: (_: unknown, message: string) => void logged.push(message) };
    let rounds = 0;
    let ending: (() => void) | undefined;
    const keeping = startHousekeeping(
      [
        {
          name: "test",
          everyMs: 1,
          async round(goOn) {
            rounds += 1;
            if (rounds === 1) throw new Error("the first one fails");
            await new Promise<void>((resolve) => (ending = resolve));
            logged.push(String(goOn()));
          },
        },
      ],
      createOnlyProcess(),
      log,
    );
    await until("the second round", () => ending);
    const stopped = keeping.stop();
    ending?.();
    await stopped;
    expect(logged).toEqual(["a round of housekeeping failed", "false"]);
    expect(rounds).toBe(2);
  });

  it("drops the stored results that were used longest ago when they take too much room", async () => {
    const folder = await mkdtemp(join(tmpdir(), "lightdesk-cache-"));
    await mkdir(join(folder, "1", "aa"), { recursive: true });
    for (let age = 0; age < 10; age += 1) {
      const path = join(folder, "1", "aa", `${age}.json`);
      await writeFile(path, "{}");
      await utimes(path, 1000 - age, 1000 - age);
    }
    expect(await evictOldest(folder, 20)).toBe(20);
    expect(await evictOldest(folder, 10)).toBe(8);
    expect((await readdir(join(folder, "1", "aa"))).sort()).toEqual(["0.json", "1.json", "2.json", "3.json"]);
    await rm(folder, { recursive: true });
  });
});
