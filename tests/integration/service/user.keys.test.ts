import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fillPath } from "@/lib/contract/operation";
import { allOperations } from "@/lib/contract/operations";
import { createService, openServiceStore } from "@/lib/service/index";
import { readServiceEnv } from "@/lib/service/settings";
import { type ServiceBench, startService } from "@/tests/support/service";
import { record } from "./support";

describe("users and keys", () => {
  let bench: ServiceBench;
  beforeAll(async () => {
    bench = await startService();
  });
  afterAll(() => bench.dispose());

  it("answers a missing, an unknown and a revoked key alike, on every operation", async () => {
    const { key, prefix } = await bench.service.keys.createKey("mallory");
    expect(await bench.anonymous(key).get("/api/user")).toMatchObject({ status: 200, body: { status: "active" } });
    expect(await bench.service.keys.revokeKey(prefix)).toBe(true);
    const params = { job_id: "x", id: "x", task_id: "x", file: "x", dest: "y", class: "x", folder: "x", hash: `blake3:${"0".repeat(64)}` };
    for (const { method, path } of allOperations) {
      const answers = await Promise.all(
        [undefined, "ld-unknown", key].map((one) => bench.anonymous(one).call(method, fillPath(path, params))),
      );
      expect([path, ...answers.map((answer) => answer.status)]).toEqual([path, 401, 401, 401]);
      expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
      if (method !== "HEAD" && !path.startsWith("/api/userdata"))
        expect(answers[0]?.body).toMatchObject({ code: "UNAUTHORIZED", message: expect.any(String) });
    }
  });

  it("takes a key as Authorization: Bearer too, and refuses two different keys", async () => {
    const { key } = await bench.service.keys.createKey("bea");
    const ask = async (headers: Record<string, string>) =>
      (await bench.service.fetch(new Request("http://service.test/api/user", { headers }))).status;
    expect(await ask({ authorization: `Bearer ${key}` })).toBe(200);
    expect(await ask({ authorization: `bearer  ${key}`, "x-api-key": key })).toBe(200);
    expect(await ask({ authorization: `Bearer ${key}`, "x-api-key": "ld-another" })).toBe(400);
    for (const authorization of [`Basic ${key}`, "Bearer", "Bearer x", key]) expect(await ask({ authorization })).toBe(401);
  });

  it("has no models", async () => {
    const { key } = await bench.service.keys.createKey("mo");
    for (const path of ["/api/models", "/api/models/checkpoints", "/api/models/a%20b"])
      expect(await bench.anonymous(key).get(path)).toMatchObject({ status: 200, body: [] });
  });

  it("shows a key once, stores a hash of it, and lists it by its prefix", async () => {
    const { key, prefix } = await bench.service.keys.createKey("carol");
    expect(key).toMatch(/^ld-[0-9A-Za-z]{40}$/);
    expect(key.startsWith(prefix)).toBe(true);
    expect(await bench.service.keys.listKeys()).toContainEqual({
      prefix,
      userName: "carol",
      userStatus: "active",
      createdAtMs: expect.any(Number),
    });
    const stored = await bench.storedKeys();
    expect(stored).toContain(prefix);
    expect(stored).not.toContain(key);
    expect(await bench.service.keys.revokeKey("ld-")).toBe(false);
  });

  it("lets the command line make and revoke keys while the service runs", async () => {
    const beside = await openServiceStore(bench.folder, { concurrency: 1, databaseUrl: bench.settings.databaseUrl });
    const { key, prefix } = await beside.keys.createKey("dave");
    expect((await bench.anonymous(key).get("/api/user")).status).toBe(200);
    await beside.keys.setUserStatus("dave", "waitlisted");
    expect((await bench.anonymous(key).get("/api/user")).body).toMatchObject({ status: "waitlisted" });
    await beside.keys.revokeKey(prefix);
    expect((await bench.anonymous(key).get("/api/user")).status).toBe(401);
    await beside.close();
  });

  it("answers health without a key, and unknown paths and methods with the envelope", async () => {
    expect(await bench.anonymous().get("/api/health")).toMatchObject({ status: 200, body: { status: "ok" } });
    const client = bench.client();
    expect(await client.get("/api/nowhere")).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    expect(await client.get("/api/system_stats")).toMatchObject({ status: 200, body: { devices: expect.any(Array) } });
    expect(await client.call("PATCH", "/api/jobs")).toMatchObject({ status: 405, body: { code: "METHOD_NOT_ALLOWED" } });
    expect(await client.get("/api/features")).toMatchObject({ status: 200, body: { max_upload_size: 1e9 } });
    expect(Object.keys(record((await client.get("/api/object_info")).body))).toContain("LoadImage");
  });

  it("refuses a second process on the same folder and names the first", async () => {
    const second = createService(bench.settings);
    await expect(second.start()).rejects.toThrow(`process ${process.pid}`);
    expect((await second.fetch(new Request("http://x/api/health"))).status).toBe(503);
  });

  it("names a bad setting and what it should be", () => {
    const reading = readServiceEnv({ PORT: "x", LIGHTDESK_CONCURRENCY: "0", LIGHTDESK_PUBLIC_URL: "desk" });
    expect(reading).toMatchObject({
      ok: false,
      problems: [
        expect.stringContaining("PORT must be a port number"),
        expect.stringContaining("LIGHTDESK_PUBLIC_URL must be"),
        expect.stringContaining("LIGHTDESK_CONCURRENCY must be"),
      ],
    });
  });

  it("writes absolute URLs from its public address where one is set", async () => {
    const folder = await mkdtemp(join(tmpdir(), "lightdesk-url-"));
    const public_ = await startService({ dataDir: folder, publicUrl: "https://service.example.com/base" });
    const answer = await public_.client().get("/api/assets?limit=1");
    expect(answer.text).toContain('"https://service.example.com/base/api/view?');
    await public_.dispose();
    await rm(folder, { recursive: true, force: true });
  });
});
