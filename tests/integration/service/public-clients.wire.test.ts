import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { takeEverythingBack } from "@/tests/support/client-changes";
import { controlsOf, type Graph, publicClients } from "@/tests/support/public-clients";
import { createKey, httpClient, type ServiceProcess, startServiceProcess } from "@/tests/support/service-process";
import { png, record, sample } from "./support";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let dataDir: string;
let service: ServiceProcess;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "lightdesk-clients-"));
  service = await startServiceProcess(dataDir, { LIGHTDESK_CONCURRENCY: "1" });
});
afterAll(async () => {
  await service.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const pngMark = [0x89, 0x50, 0x4e, 0x47];

describe.each(Object.keys(publicClients))("the public client %s", (name) => {
  it.each(["", "/api"])("runs a sample to its end, fetches its picture, uploads and reads, below %j", async (below) => {
    const key = await createKey(dataDir, `user of ${name}${below}`);
    const graph = sample("01-invert") as Graph;
    const outputNode = Object.keys(graph).find((id) => graph[id]?.class_type === "SaveImage") ?? "";
    const drive = publicClients[name];
    const place = { base: `${service.url}${below}`, headers: { "X-API-Key": key } };
    const done = await drive?.(place, { graph, outputNode, upload: png(5, 5) });
    const client = httpClient(service.url, key);
    const { jobs } = record((await client.get("/api/jobs")).body) as { jobs: { id: string; status: string }[] };
    expect(jobs.map(({ status }) => status)).toEqual(["completed"]);
    expect([...(done?.picture.subarray(0, 4) ?? [])]).toEqual(pngMark);
    expect(done).toMatchObject({ queue: { running: 0, pending: 0 }, history: [jobs[0]?.id], system: { os: expect.any(String) } });
    expect(done?.classes).toContain("SaveImage");
    // The uploaded file can be loaded by the name in the answer.
    if (done?.uploaded !== "") expect((await client.get(`/api/view?filename=${done?.uploaded}&type=input`)).status).toBe(200);
  });

  it.each(["", "/api"])("takes back what it submitted and what it made, below %j", async (below) => {
    const key = await createKey(dataDir, `changer of ${name}${below}`);
    const place = { base: `${service.url}${below}`, headers: { "X-API-Key": key } };
    await controlsOf[name]?.(place, (controls) => takeEverythingBack(httpClient(service.url, key), controls));
  });
});
