// The memory that the service takes for its runners' classes, however many runners there are.
import { afterEach, expect, it } from "vitest";
import { createLibraries } from "@/lib/service/runners/libraries";
import { storeAbout } from "@/lib/service/runners/store";
import { query } from "@/lib/service/store/database";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { makeServicePlace, type ServicePlace } from "@/tests/support/service-store";

let place: ServicePlace;
afterEach(() => place.remove());

it("keeps the classes of runners that say the same once, and tells those apart that differ", async () => {
  place = await makeServicePlace();
  const database = await place.open();
  const facts = { version: null, devices: [], queue: null, classes: 5 };
  const learn = (id: string, models: string[]) =>
    database.commit((tx) => storeAbout(tx, id, { facts, catalogue: gpuClasses(models) }, Date.now()));
  for (const id of ["one", "two", "three"]) {
    const values = { id, label: id, address: `http://${id}`, tags: "[]", slots: 1, mode: "ready" as const, devices: "[]", created_at: 1 };
    await database.commit((tx) => tx.run(query.insertInto("runners").values(values)));
    await learn(id, id === "three" ? ["b.safetensors"] : ["a.safetensors"]);
  }
  const libraries = createLibraries(database);
  await libraries.refresh();
  const choicesOf = (library: ReturnType<typeof libraries.of>) => library.get("LoadModel")?.inputs[0]?.choices;
  expect(libraries.of("one")).toBe(libraries.of("two"));
  expect(choicesOf(libraries.of("one"))).toEqual(["a.safetensors"]);
  expect(choicesOf(libraries.of("three"))).toEqual(["b.safetensors"]);
  expect(choicesOf(libraries.all())).toEqual(["a.safetensors", "b.safetensors"]);

  await learn("two", ["b.safetensors"]);
  await libraries.refresh();
  expect(libraries.of("two")).toBe(libraries.of("three"));
  expect(choicesOf(libraries.of("one"))).toEqual(["a.safetensors"]);
  await database.close();
});
