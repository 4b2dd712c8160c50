// Compares the service's responses after a restart with the operation log. Resolves uncertain facts, which must not change afterwards.
import { expect } from "vitest";
import { z } from "zod";
import { type Client } from "@/tests/support/service";
import { type AssetFact, type Certainty, type OperationLog } from "./operation-log";

const jobPage = z.looseObject({
  jobs: z.array(z.looseObject({ id: z.string(), status: z.string() })),
  pagination: z.looseObject({ has_more: z.boolean(), total: z.number() }),
});
const assetPage = z.looseObject({
  assets: z.array(z.looseObject({ id: z.string(), asset_hash: z.string(), tags: z.array(z.string()) })),
  has_more: z.boolean(),
  total: z.number(),
});
type ListedAsset = z.infer<typeof assetPage>["assets"][number];

export async function auditResponses(client: Client, operationLog: OperationLog): Promise<void> {
  await auditJobs(client, operationLog);
  await auditAssets(client, operationLog);
  await auditFiles(client, operationLog);
  for (const name of operationLog.masks.slice(-2).flat()) expect((await client.get(`/api/view?filename=${name}`)).status, name).toBe(200);
}

export async function listAllJobs(client: Client): Promise<Map<string, string>> {
  const states = new Map<string, string>();
  for (let offset = 0, hasMore = true; hasMore; offset += 1000) {
    const { jobs, pagination } = jobPage.parse((await client.get(`/api/jobs?limit=1000&offset=${offset}`)).body);
    for (const { id, status } of jobs) states.set(id, status);
    hasMore = pagination.has_more;
    // Jobs end while the pages are read, but none is created or removed, so the total is constant.
    if (!hasMore) expect(states.size, "the total is the count").toBe(pagination.total);
  }
  return states;
}

async function auditJobs(client: Client, operationLog: OperationLog): Promise<void> {
  const jobStates = await listAllJobs(client);
  for (const job of operationLog.jobs.values()) {
    const status = jobStates.get(job.id);
    const subject = `job ${job.id} (${job.kind}) of ${operationLog.user}`;
    job.removed = resolveFact(job.removed, status === undefined, `${subject} is deleted`);
    if (status === undefined) continue;
    job.cancelled = resolveFact(job.cancelled, status === "cancelled", `${subject} is cancelled`);
  }
}

async function auditAssets(client: Client, operationLog: OperationLog): Promise<void> {
  const assetsById = new Map<string, ListedAsset>();
  for (let offset = 0, hasMore = true; hasMore; offset += 500) {
    const path = `/api/assets?include_public=false&include_tags=first&limit=500&offset=${offset}`;
    const page = assetPage.parse((await client.get(path)).body);
    for (const asset of page.assets) assetsById.set(asset.id, asset);
    hasMore = page.has_more;
    if (!hasMore) expect(assetsById.size, "the total is the count").toBe(page.total);
  }
  for (const asset of operationLog.assets.values()) {
    const listedAsset = assetsById.get(asset.id);
    const subject = `asset ${asset.id} of ${operationLog.user}`;
    asset.removed = resolveFact(asset.removed, listedAsset === undefined, `${subject} is deleted`);
    if (!listedAsset) continue;
    expect(listedAsset.asset_hash, subject).toBe(asset.hash);
    resolveTags(asset, listedAsset.tags, subject);
  }
  const remaining = [...operationLog.assets.values()].filter((asset) => asset.removed === "no");
  for (const asset of remaining.slice(-3)) expect((await client.get(`/api/assets/${asset.id}/content`)).text).toBe(asset.text);
}

function resolveTags(asset: AssetFact, tags: readonly string[], subject: string): void {
  for (const [tag, certainty] of asset.tags) asset.tags.set(tag, resolveFact(certainty, tags.includes(tag), `${subject} is tagged ${tag}`));
}

async function auditFiles(client: Client, operationLog: OperationLog): Promise<void> {
  for (const [name, texts] of operationLog.files) {
    const response = await client.get(`/api/userdata/${name}`);
    const text = response.status === 404 ? "" : response.text;
    // Each text has its own numbers, so a partial or mixed text matches none.
    expect(texts.includes(text), `${name} of ${operationLog.user} contains a complete text that was sent, not "${text.slice(0, 60)}"`).toBe(
      true,
    );
    operationLog.files.set(name, [text]);
  }
}

function resolveFact(expected: Certainty, isTrue: boolean, label: string): Certainty {
  if (expected !== "maybe") expect(isTrue, label).toBe(expected === "yes");
  return isTrue ? "yes" : "no";
}
