// What jobs need of a runner is kept for as long as a job may still be given to one.
import { afterEach, beforeEach, expect, it } from "vitest";
import { BUILT_IN_RUNNER } from "@/lib/contract/runners/runners";
import { submitPrompt } from "@/lib/service/jobs/submit";
import { createPool, kindWith, storeNeeds } from "@/lib/service/runners/pool";
import { type Database, query } from "@/lib/service/store/database";
import { createOnlyProcess } from "@/lib/service/store/processes";
import { createKeys } from "@/lib/service/users/keys";
import { makeServicePlace, type ServicePlace } from "@/tests/support/service-store";
import { canvas } from "./support";

let place: ServicePlace;
let database: Database;
beforeEach(async () => {
  place = await makeServicePlace();
  database = await place.open();
  await createKeys(database, Date.now).createKey("ada");
});
afterEach(async () => {
  await database.close();
  await place.remove();
});

it("is forgotten once no waiting or running job needs it, and gets another number when it is needed again", async () => {
  const pool = await createPool({ database, processes: createOnlyProcess(), concurrency: 1 });
  const store = (name: string) => database.commit((tx) => storeNeeds(tx, [{ node: "1", class: name }]));
  const stored = async () => (await database.rows(query.selectFrom("job_needs").select("id").orderBy("id"))).map(({ id }) => id);
  const canDo = (id: number) => pool.canDo(kindWith(id), BUILT_IN_RUNNER);

  const unused = await store("ImageInvert");
  const engine = { enqueue: () => Promise.resolve(), submitted: () => undefined };
  const waiting = await submitPrompt({ database, pool, engine, now: Date.now }, 1, { prompt: canvas() });
  if (!waiting.ok) throw new Error(waiting.error.message);
  const last = await store("SaveImage");
  await database.commit((tx) => tx.run(query.updateTable("runners").set({ last_needs: last })));
  const newest = await store("LoadImage");
  const all = [unused, waiting.needs, last, newest];
  await pool.loadNeeds(all);
  expect([await stored(), all.map(canDo)]).toEqual([all, [true, true, true, true]]);

  await pool.forgetNeeds();
  expect([await stored(), all.map(canDo)]).toEqual([all.slice(1), [false, true, true, true]]);

  const again = await store("ImageInvert");
  expect(again).toBeGreaterThan(newest);
  await pool.loadNeeds([again]);
  expect(canDo(again)).toBe(true);
});
