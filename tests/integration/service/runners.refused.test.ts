// What answers at an address and is no runner: the refusal says what it is, and it is not added.
import { afterEach, describe, expect, it } from "vitest";
import { createRunners } from "@/lib/service/runners/store";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { startLittleServer } from "@/tests/support/little-server";
import { startRunnerServer } from "@/tests/support/runner-server";
import { type ServiceBench, startService } from "@/tests/support/service";
import { makeServicePlace } from "@/tests/support/service-store";

describe("faults of runners", () => {
  let bench: ServiceBench;
  afterEach(() => bench.dispose());

  it.each([
    ["a service with keys", (path: string) => [401, path], "cloud_service"],
    ["a page", () => [200, "<html>"], "not_a_server"],
    ["a redirect", () => [302, ""], "redirects"],
    ["a server that fails", () => [500, ""], "failing"],
  ] as const)("does not take %s for a runner, and says what it is", async (_name, answer, code) => {
    bench = await startService();
    const little = await startLittleServer(({ url }, response) => {
      const [status, body] = answer(url);
      response.writeHead(Number(status), { location: "http://127.0.0.1:9/" }).end(body);
    });
    expect(await bench.service.runners.check(little.url)).toMatchObject({ ok: false, code, message: expect.any(String) });
    expect(await bench.service.runners.add({ address: little.url })).toMatchObject({ ok: false, failure: { code } });
    expect(little.seen.every(({ headers }) => headers.origin === undefined && headers["x-api-key"] === undefined)).toBe(true);
    await little.close();
    expect(await bench.service.runners.check(little.url)).toMatchObject({ ok: false, code: "not_reachable" });
    expect(await bench.service.runners.check("http://user:secret@127.0.0.1:1")).toMatchObject({ ok: false });
    expect(await bench.service.runners.list()).toHaveLength(1);
  });

  it.each([
    ["in capitals", "HTTP://LOCALHOST:9", "http://localhost:9"],
    ["with half a character", "http://localhost:9/\ud800", "http://localhost:9/\ud800"],
    ["with a null character", "http://localhost:9/a\u0000b", "http://localhost:9/a\u0000b"],
    ["in another spelling of its characters", "http://localhost:9/ö", "http://localhost:9/%C3%B6"],
    ["with the port of its protocol", "http://localhost:80", "http://localhost"],
  ])("adds an address once that is written %s", async (_name, first, second) => {
    bench = await startService();
    expect(await bench.service.runners.add({ address: first, keep: true })).toMatchObject({ ok: true });
    expect(await bench.service.runners.add({ address: second, keep: true })).toMatchObject({ ok: false, failure: { code: "taken" } });
  });

  it("refuses an address that is too long for the database", async () => {
    bench = await startService();
    const added = await bench.service.runners.add({ address: `http://localhost:9/${"ö".repeat(1000)}`, keep: true });
    expect(added).toMatchObject({ ok: false, failure: { code: "invalid" } });
  });

  it("says that a server without a history of single jobs is too old, and of one that speaks http that the address says https", async () => {
    bench = await startService();
    const server = await startRunnerServer({ objectInfo: gpuClasses(["one.safetensors"]) });
    server.faults.set("GET /history/*", (_request, response) => response.writeHead(404).end());
    expect(await bench.service.runners.check(server.address)).toEqual({
      ok: false,
      code: "too_old",
      message: "It has no history per job. Update the server.",
    });
    expect(await bench.service.runners.check(server.address.replace("http:", "https:"))).toEqual({
      ok: false,
      code: "wrong_protocol",
      message: "It speaks http, and the address says https.",
    });
    server.faults.clear();
    expect(await bench.service.runners.check(server.address)).toMatchObject({ ok: true });
    await server.close();
  });
});

it("says of a server that takes the connection and never answers that it did not answer in time, and does not add it", async () => {
  const place = await makeServicePlace();
  const database = await place.open();
  const silent = await startLittleServer(() => undefined);
  const builtIn = { slots: () => Promise.resolve(1), classes: 1 };
  const runners = createRunners({ database, now: Date.now, builtIn, answerMs: 100 });
  const failure = { code: "timeout", message: "It did not answer in time." };
  expect(await runners.check(silent.url)).toEqual({ ok: false, ...failure });
  expect(await runners.add({ address: silent.url })).toEqual({ ok: false, failure });
  expect(await runners.list()).toHaveLength(1);
  await silent.close();
  await database.close();
  await place.remove();
});
