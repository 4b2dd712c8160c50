// A runner's answer counts only for the address that was asked, not for another one that the runner got meanwhile.
import { afterEach, beforeEach, expect, it } from "vitest";
import { runnerChores } from "@/lib/service/runners/rounds";
import { createRunners } from "@/lib/service/runners/store";
import { type Database, query } from "@/lib/service/store/database";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { type RunnerServer, startRunnerServer } from "@/tests/support/runner-server";
import { makeServicePlace, type ServicePlace } from "@/tests/support/service-store";
import { until } from "@/tests/support/until";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

let place: ServicePlace;
let database: Database;
let server: RunnerServer;
beforeEach(async () => {
  place = await makeServicePlace();
  database = await place.open();
  server = await startRunnerServer({ objectInfo: gpuClasses(["one.safetensors"]) });
  const values = { id: "r", label: "R", address: server.address, tags: "[]", slots: 1, devices: "[]", created_at: 1 };
  await database.commit((tx) => tx.run(query.insertInto("runners").values({ ...values, mode: "ready" })));
});
afterEach(async () => {
  await server.close();
  await database.close();
  await place.remove();
});

it.each([
  ["is not told as its own", "fails", { address: "http://127.0.0.1:9" }],
  ["is not told as its own", "answers", { address: "http://127.0.0.1:9" }],
  ["is not kept of one that was removed", "answers", { removed_at: 2 }],
] as const)("%s, where the one before it %s late", async (_what, way, change) => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  let isAsked = false;
  server.faults.set("GET /system_stats", async (_request, response, real) => {
    isAsked = true;
    await opened;
    if (way === "answers") await real();
    else response.writeHead(500).end();
  });
  const nothing = () => Promise.resolve();
  const stores = {
    ...{ database, now: Date.now, log, checkMs: 1000 },
    ...{ changed: nothing, changedElsewhere: nothing, signal: new AbortController().signal },
  };
  const round = runnerChores(stores)[0]?.round(() => true);
  await until("it is asked", () => isAsked);
  await database.commit((tx) => tx.run(query.updateTable("runners").set(change).where("id", "=", "r")));
  open();
  await round;
  expect(await database.row(query.selectFrom("runners").selectAll().where("id", "=", "r"))).toMatchObject({
    problem: null,
    version: null,
    checked_at: null,
  });
  expect(await database.rows(query.selectFrom("runner_catalogues").select("runner_id"))).toEqual([]);
});

it("is not kept of one that was removed while its new address was asked", async () => {
  const next = await startRunnerServer({ objectInfo: gpuClasses(["two.safetensors"]) });
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  let isAsked = false;
  next.faults.set("GET /system_stats", async (_request, _response, real) => {
    isAsked = true;
    await opened;
    await real();
  });
  const runners = createRunners({ database, now: Date.now, builtIn: { slots: () => Promise.resolve(1), classes: 1 } });
  const changed = runners.change("r", { address: next.address });
  await until("it is asked", () => isAsked);
  expect((await runners.remove("r")).ok).toBe(true);
  open();
  expect(await changed).toMatchObject({ ok: false, failure: { code: "not_found" } });
  expect(await database.rows(query.selectFrom("runner_catalogues").select("runner_id"))).toEqual([]);
  await next.close();
});
