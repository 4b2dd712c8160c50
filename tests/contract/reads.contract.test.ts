// The reads of the interface over real HTTP: against a stand-alone service started here, or against any deployment named by
// LIGHTDESK_CONTRACT_URL with a key in LIGHTDESK_CONTRACT_KEY. A deployment is only read from.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operations } from "@/lib/contract/operations";
import { canvas, ended, list, record, string, submit } from "../integration/service/support";
import { type Client } from "../support/service";
import { httpClient, serviceCommand, startServiceProcess } from "../support/service-process";
import { conforms } from "./conforms";

const deployment = process.env.LIGHTDESK_CONTRACT_URL?.replace(/\/+$/, "");

describe(`reads of ${deployment ?? "the stand-alone service"}`, () => {
  let client: Client;
  let close = async (): Promise<void> => undefined;

  beforeAll(async () => {
    if (deployment !== undefined) {
      client = httpClient(deployment, process.env.LIGHTDESK_CONTRACT_KEY ?? "");
      return;
    }
    const dataDir = await mkdtemp(join(tmpdir(), "lightdesk-contract-"));
    const key = await serviceCommand(dataDir, "keys", "create", "--user", "contract");
    const service = await startServiceProcess(dataDir);
    client = httpClient(service.url, key);
    close = async () => {
      expect(await service.stop()).toBe(0);
      await rm(dataDir, { recursive: true, force: true });
    };
    for (const color of [1, 2]) await ended(client, await submit(client, canvas(color)));
    await client.upload("read me", "read-me.txt", { tags: "input" });
  });
  afterAll(() => close());

  it("GET /api/user", async () => {
    conforms(operations.getUser, await client.get("/api/user"));
  });

  it("GET /api/jobs, and each job's details and status", async () => {
    const answer = record(conforms(operations.listJobs, await client.get("/api/jobs?limit=5")));
    for (const { id } of list(answer.jobs)) {
      conforms(operations.getJob, await client.get(`/api/jobs/${string(id)}`));
      conforms(operations.getJobStatus, await client.get(`/api/job/${string(id)}/status`));
    }
  });

  it("GET /api/history_v2", async () => {
    conforms(operations.listHistory, await client.get("/api/history_v2?max_items=5"));
  });

  it("GET /api/assets, and one of them", async () => {
    const answer = record(conforms(operations.listAssets, await client.get("/api/assets?limit=5&include_public=true")));
    for (const asset of list(answer.assets)) conforms(operations.getAsset, await client.get(`/api/assets/${string(asset.id)}`));
  });

  it("refuses a key that does not exist", async () => {
    expect((await client.call("GET", "/api/user", undefined, { "x-api-key": "unknown" })).status).toBe(401);
  });
});
