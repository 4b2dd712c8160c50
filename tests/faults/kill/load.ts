// One user's mixed load until the connection is cut. Every step records its response.
// A response that must never occur (a 5xx, an unknown refusal) ends the load with an error.
import { blake3 } from "@napi-rs/blake-hash";
import { z } from "zod";
import { type Client, type ClientResponse } from "@/tests/support/service";
import { makeGraph } from "./graphs";
import { sendHalf } from "./half-upload";
import { type AssetFact, claiming, type JobFact, type OperationLog } from "./operation-log";
import { getPicture, maskFor } from "./pictures";
import { type Random } from "./random";

const prompted = z.looseObject({ prompt_id: z.string() });
const created = z.looseObject({ id: z.string(), asset_hash: z.string(), tags: z.array(z.string()) });
const nameSchema = z.looseObject({ name: z.string() });
const masked = nameSchema.extend({ metadata: z.looseObject({ related_files: z.record(z.string(), z.string()) }) });
const result = z.looseObject({ deleted: z.array(z.string()) });
const jobList = z.looseObject({ jobs: z.array(z.looseObject({ id: z.string(), status: z.string() })) });

const terminal = ["completed", "failed", "cancelled"];
const kinds = ["single", "several", "loaded", "slow", "text", "failing", "partial"] as const;

export type LoadParts = { client: Client; operationLog: OperationLog; random: Random; url: string };
type Step = (parts: LoadParts) => Promise<void>;

/** How often each step is chosen: its weight. */
const steps: readonly (readonly [number, Step])[] = [
  [8, submit],
  [5, upload],
  [3, overwrite],
  [2, cancel],
  [2, look],
  [2, changeTags],
  [2, fromHash],
  [2, deleteAsset],
  [2, removeFromHistory],
  [1, clearHistory],
  [1, clearQueue],
  [1, uploadMask],
  [2, showAndDeletePicture],
  [1, halfUpload],
];

export async function loadUntilCut(parts: LoadParts): Promise<void> {
  const choice = steps.flatMap(([weight, step]) => Array.from({ length: weight }, () => step));
  const [first, ...otherSteps] = choice;
  if (!first) return;
  for (;;) {
    try {
      await parts.random.pick([first, ...otherSteps])(parts);
    } catch (error) {
      if (isCut(error)) return;
      throw error;
    }
  }
}

/** fetch's error for a broken connection. */
export function isCut(error: unknown): boolean {
  return error instanceof TypeError && /fetch failed|terminated/.test(error.message);
}

async function expecting(parts: LoadParts, statuses: readonly number[], request: Promise<ClientResponse>): Promise<ClientResponse> {
  parts.operationLog.moments += 1;
  const response = await request;
  parts.operationLog.moments += 1;
  if (!statuses.includes(response.status)) throw new Error(`an answer nobody expects: ${response.status} ${response.text.slice(0, 500)}`);
  return response;
}

async function submit(parts: LoadParts): Promise<void> {
  const { client, operationLog, random } = parts;
  const kind = random.pick(kinds);
  const { clearsBegun, clearsOpen } = operationLog;
  const response = await expecting(parts, [200], client.post("/api/prompt", makeGraph(kind, random, operationLog.picture)));
  const { prompt_id: id } = prompted.parse(response.body);
  const mayBeCleared = clearsOpen > 0 || clearsBegun !== operationLog.clearsBegun ? "maybe" : "no";
  operationLog.jobs.set(id, { id, kind, cancelled: mayBeCleared, removed: mayBeCleared, hasEnded: false });
}

async function upload(parts: LoadParts): Promise<void> {
  const { client, operationLog, random } = parts;
  const serial = (operationLog.serial += 1);
  // Every fourth text is the same for all users, so that one blob has several owners.
  const isShared = serial % 4 === 0;
  const text = `${isShared ? "everybody" : operationLog.user} number ${serial} `.repeat(isShared ? 100 : 1 + random.below(8000));
  const response = await expecting(parts, [200, 201], client.upload(text, `${serial}.txt`, { tags: JSON.stringify(["first"]) }));
  const { id, asset_hash, tags } = created.parse(response.body);
  if (asset_hash !== `blake3:${Buffer.from(blake3(text)).toString("hex")}`) throw new Error("the hash is not that of what was sent");
  operationLog.assets.set(id, { id, hash: asset_hash, text, removed: "no", tags: new Map(tags.map((tag) => [tag, "yes"])) });
}

async function overwrite(parts: LoadParts): Promise<void> {
  const { client, operationLog, random } = parts;
  // Only one writer for each file at a time; otherwise the expected text would be unknown.
  const serial = (operationLog.serial += 1);
  const free = ["a.json", "b.json", "c.json"].filter((name) => (operationLog.files.get(name)?.length ?? 1) === 1);
  const name = free[random.below(free.length)];
  if (name === undefined) return;
  const text = `${name} ${serial} `.repeat(1 + random.below(20_000));
  operationLog.files.set(name, [...(operationLog.files.get(name) ?? [""]), text]);
  const path = `/api/userdata/${name}?overwrite=true&full_info=true`;
  const headers = { "content-type": "application/octet-stream" };
  await expecting(parts, [200], client.call("POST", path, text, headers));
  operationLog.files.set(name, [text]);
}

async function cancel(parts: LoadParts): Promise<void> {
  const { client, random, operationLog } = parts;
  const job = pickJob(parts, (jobFact) => jobFact.cancelled === "no" && jobFact.removed === "no" && !jobFact.hasEnded);
  if (!job || operationLog.clearsOpen > 0) return;
  operationLog.cancelsOpen += 1;
  await claiming(
    (sure) => (job.cancelled = sure),
    async () => {
      if (random.below(2) === 0) {
        const response = await expecting(parts, [200], client.post("/api/queue", { delete: [job.id] }));
        return result.parse(response.body).deleted.includes(job.id);
      }
      const reply = await expecting(parts, [200, 404], client.post(`/api/jobs/${job.id}/cancel`));
      return z.looseObject({ cancelled: z.boolean() }).safeParse(reply.body).data?.cancelled === true;
    },
  );
  operationLog.cancelsOpen -= 1;
}

async function clearQueue({ client, operationLog, ...parts }: LoadParts): Promise<void> {
  if (operationLog.user !== "bob" || operationLog.cancelsOpen > 0 || operationLog.clearsOpen > 0) return;
  const open = [...operationLog.jobs.values()].filter((job) => job.cancelled === "no" && !job.hasEnded);
  for (const job of open) job.cancelled = "maybe";
  operationLog.clearsBegun += 1;
  operationLog.clearsOpen += 1;
  const response = await expecting({ client, operationLog, ...parts }, [200], client.post("/api/queue", { clear: true }));
  operationLog.clearsOpen -= 1;
  const deleted = new Set(result.parse(response.body).deleted);
  for (const job of open) job.cancelled = deleted.has(job.id) ? "yes" : "no";
}

async function look(parts: LoadParts): Promise<void> {
  const response = await expecting(parts, [200], parts.client.get("/api/jobs?limit=60"));
  for (const { id, status } of jobList.parse(response.body).jobs) {
    const job = parts.operationLog.jobs.get(id);
    if (job && terminal.includes(status)) job.hasEnded = true;
  }
}

async function removeFromHistory(parts: LoadParts): Promise<void> {
  if (parts.operationLog.user === "bob") return;
  const job = pickJob(parts, (jobFact) => jobFact.hasEnded && jobFact.removed === "no");
  if (!job) return;
  await claiming(
    (sure) => (job.removed = sure),
    async () => (await expecting(parts, [200], parts.client.post("/api/history", { delete: [job.id] }))).status === 200,
  );
}

/** Jobs that end while the request is in transit may be removed too. */
async function clearHistory(parts: LoadParts): Promise<void> {
  if (parts.operationLog.user !== "bob" || parts.operationLog.clearsOpen > 0) return;
  const all = [...parts.operationLog.jobs.values()].filter((job) => job.removed === "no");
  const ended = new Set(all.filter((job) => job.hasEnded));
  for (const job of all) job.removed = "maybe";
  parts.operationLog.clearsBegun += 1;
  parts.operationLog.clearsOpen += 1;
  await expecting(parts, [200], parts.client.post("/api/history", { clear: true }));
  parts.operationLog.clearsOpen -= 1;
  for (const job of ended) job.removed = "yes";
}

async function changeTags(parts: LoadParts): Promise<void> {
  const asset = pickAsset(parts);
  if (!asset) return;
  const tag = `tag-${parts.random.below(3)}`;
  const adds = parts.random.below(2) === 0;
  if (asset.tags.get(tag) === "maybe") return;
  asset.tags.set(tag, "maybe");
  const request = parts.client.call(adds ? "POST" : "DELETE", `/api/assets/${asset.id}/tags`, { tags: [tag] });
  if ((await expecting(parts, [200, 404], request)).status === 200) asset.tags.set(tag, adds ? "yes" : "no");
}

async function fromHash(parts: LoadParts): Promise<void> {
  const asset = pickAsset(parts);
  if (!asset) return;
  const body = { hash: asset.hash, tags: ["first"], name: "again.txt" };
  const response = await expecting(parts, [200, 201, 404], parts.client.post("/api/assets/from-hash", body));
  if (response.status === 404) return; // it was just deleted
  const { id, tags } = created.parse(response.body);
  if (!parts.operationLog.assets.has(id))
    parts.operationLog.assets.set(id, { ...asset, id, removed: "no", tags: new Map(tags.map((tag) => [tag, "yes"])) });
}

async function deleteAsset(parts: LoadParts): Promise<void> {
  const asset = pickAsset(parts);
  if (!asset) return;
  await claiming(
    (sure) => (asset.removed = sure),
    async () => (await expecting(parts, [204], parts.client.call("DELETE", `/api/assets/${asset.id}`))).status === 204,
  );
}

async function uploadMask(parts: LoadParts): Promise<void> {
  const { client, operationLog, random } = parts;
  const reference = JSON.stringify({ filename: operationLog.picture, type: "input" });
  const mask = await maskFor((operationLog.serial += 1), random.below(0xffffff));
  const response = await expecting(parts, [200], client.upload(mask, "m.png", { original_ref: reference }, "image", "/api/upload/mask"));
  const { name, metadata } = masked.parse(response.body);
  operationLog.masks.push([name, ...Object.values(metadata.related_files)]);
}

/** Deletes a picture while its previews are still being created. */
async function showAndDeletePicture(parts: LoadParts): Promise<void> {
  const { client, operationLog, random } = parts;
  const bytes = await maskFor((operationLog.serial += 1), random.below(0xffffff));
  const response = await expecting(parts, [201], client.upload(bytes, "fleeting.png", { tags: JSON.stringify(["fleeting"]) }));
  const { id, asset_hash } = created.parse(response.body);
  const path = `/api/view?filename=${encodeURIComponent(asset_hash)}&res=${64 + random.below(900)}`;
  const pendingDetail = expecting(parts, [200, 404, 422], client.get(path));
  if (random.below(2) === 0) await pendingDetail;
  await Promise.all([pendingDetail, expecting(parts, [204], client.call("DELETE", `/api/assets/${id}`))]);
}

async function halfUpload({ url, operationLog, random }: LoadParts): Promise<void> {
  operationLog.moments += 1;
  await sendHalf({ url, key: operationLog.key, bytes: 1 + random.below(500_000), goesAway: true });
}

function pickJob({ operationLog, random }: LoadParts, isNeeded: (job: JobFact) => boolean): JobFact | undefined {
  const jobs = [...operationLog.jobs.values()].filter(isNeeded);
  return jobs[random.below(jobs.length)];
}

function pickAsset({ operationLog, random }: LoadParts): AssetFact | undefined {
  const assets = [...operationLog.assets.values()].filter((asset) => asset.removed === "no");
  return assets[random.below(assets.length)];
}

/** The picture that this user's graphs load. */
export async function prepareUser(client: Client, operationLog: OperationLog): Promise<void> {
  const response = await client.upload(await getPicture(operationLog.user), `${operationLog.user}.png`, {}, "image", "/api/upload/image");
  operationLog.picture = nameSchema.parse(response.body).name;
}
