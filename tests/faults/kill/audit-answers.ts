// Compares the service's answers after a restart with the ledger. Uncertain facts are settled here and must not change afterwards.
import { expect } from "vitest";
import { z } from "zod";
import { type Client } from "@/tests/support/service";
import { type AssetFact, type Ledger, type Sure } from "./ledger";

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

export async function auditAnswers(client: Client, ledger: Ledger): Promise<void> {
  await auditJobs(client, ledger);
  await auditAssets(client, ledger);
  await auditFiles(client, ledger);
  for (const name of ledger.masks.slice(-2).flat()) expect((await client.get(`/api/view?filename=${name}`)).status, name).toBe(200);
}

export async function listAllJobs(client: Client): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let offset = 0, more = true; more; offset += 1000) {
    const { jobs, pagination } = jobPage.parse((await client.get(`/api/jobs?limit=1000&offset=${offset}`)).body);
    for (const { id, status } of jobs) found.set(id, status);
    more = pagination.has_more;
    // Jobs end during this walk, but none is made or removed: the total stays the same.
    if (!more) expect(found.size, "the total is the count").toBe(pagination.total);
  }
  return found;
}

async function auditJobs(client: Client, ledger: Ledger): Promise<void> {
  const found = await listAllJobs(client);
  for (const job of ledger.jobs.values()) {
    const status = found.get(job.id);
    const subject = `job ${job.id} (${job.kind}) of ${ledger.user}`;
    job.removed = settle(job.removed, status === undefined, `${subject} is gone`);
    if (status === undefined) continue;
    job.cancelled = settle(job.cancelled, status === "cancelled", `${subject} is cancelled`);
  }
}

async function auditAssets(client: Client, ledger: Ledger): Promise<void> {
  const found = new Map<string, ListedAsset>();
  for (let offset = 0, more = true; more; offset += 500) {
    const path = `/api/assets?include_public=false&include_tags=first&limit=500&offset=${offset}`;
    const page = assetPage.parse((await client.get(path)).body);
    for (const asset of page.assets) found.set(asset.id, asset);
    more = page.has_more;
    if (!more) expect(found.size, "the total is the count").toBe(page.total);
  }
  for (const asset of ledger.assets.values()) {
    const listed = found.get(asset.id);
    const subject = `asset ${asset.id} of ${ledger.user}`;
    asset.removed = settle(asset.removed, listed === undefined, `${subject} is gone`);
    if (!listed) continue;
    expect(listed.asset_hash, subject).toBe(asset.hash);
    settleTags(asset, listed.tags, subject);
  }
  const kept = [...ledger.assets.values()].filter((asset) => asset.removed === "no");
  for (const asset of kept.slice(-3)) expect((await client.get(`/api/assets/${asset.id}/content`)).text).toBe(asset.text);
}

function settleTags(asset: AssetFact, tags: readonly string[], subject: string): void {
  for (const [tag, sure] of asset.tags) asset.tags.set(tag, settle(sure, tags.includes(tag), `${subject} is tagged ${tag}`));
}

async function auditFiles(client: Client, ledger: Ledger): Promise<void> {
  for (const [name, texts] of ledger.files) {
    const answer = await client.get(`/api/userdata/${name}`);
    const text = answer.status === 404 ? "" : answer.text;
    // Each text has its own numbers: half a text or a mixture of two matches none of them.
    expect(texts.includes(text), `${name} of ${ledger.user} holds a whole text that was sent, not "${text.slice(0, 60)}"`).toBe(true);
    ledger.files.set(name, [text]);
  }
}

function settle(expected: Sure, found: boolean, what: string): Sure {
  if (expected !== "maybe") expect(found, what).toBe(expected === "yes");
  return found ? "yes" : "no";
}
