// Runs one user's mixed load until the connection is cut. Every step records its response.
// A response that must never occur (a 5xx, an unknown refusal) ends the load with an error.
import { request as sendRequest } from "node:http";
import { blake3 } from "@napi-rs/blake-hash";
import { z } from "zod";
import { type Client, type ClientResponse } from "@/tests/support/service";
import { createGraph, createMask, createUserPicture, type Random } from "./load-inputs";
import { type AssetFact, type JobFact, type OperationLog, withUncertainty } from "./operation-log";

const promptSchema = z.looseObject({ prompt_id: z.string() });
const assetSchema = z.looseObject({ id: z.string(), asset_hash: z.string(), tags: z.array(z.string()) });
const nameSchema = z.looseObject({ name: z.string() });
const maskSchema = nameSchema.extend({ metadata: z.looseObject({ related_files: z.record(z.string(), z.string()) }) });
const deletionSchema = z.looseObject({ deleted: z.array(z.string()) });
const jobListSchema = z.looseObject({ jobs: z.array(z.looseObject({ id: z.string(), status: z.string() })) });

const terminalStates = ["completed", "failed", "cancelled"];
const kinds = ["single", "several", "loaded", "slow", "text", "failing", "partial"] as const;

export type LoadContext = { client: Client; operationLog: OperationLog; random: Random; url: string };
type Step = (context: LoadContext) => Promise<void>;

/** The steps with their weights. */
const steps: readonly (readonly [number, Step])[] = [
  [8, submit],
  [5, upload],
  [3, overwrite],
  [2, cancel],
  [2, checkEndedJobs],
  [2, changeTags],
  [2, createFromHash],
  [2, deleteAsset],
  [2, removeFromHistory],
  [1, clearHistory],
  [1, clearQueue],
  [1, uploadMask],
  [2, showAndDeletePicture],
  [1, stallUpload],
];

export async function loadUntilCut(context: LoadContext): Promise<void> {
  const weightedSteps = steps.flatMap(([weight, step]) => Array.from({ length: weight }, () => step));
  const [first, ...otherSteps] = weightedSteps;
  if (!first) return;
  for (;;) {
    try {
      await context.random.pick([first, ...otherSteps])(context);
    } catch (error) {
      if (isCut(error)) return;
      throw error;
    }
  }
}

/** Whether this is fetch's error for a broken connection. */
export function isCut(error: unknown): boolean {
  return error instanceof TypeError && /fetch failed|terminated/.test(error.message);
}

async function expectStatus(context: LoadContext, statuses: readonly number[], request: Promise<ClientResponse>): Promise<ClientResponse> {
  context.operationLog.eventCount += 1;
  const response = await request;
  context.operationLog.eventCount += 1;
  if (!statuses.includes(response.status)) throw new Error(`unexpected response: ${response.status} ${response.text.slice(0, 500)}`);
  return response;
}

async function submit(context: LoadContext): Promise<void> {
  const { client, operationLog, random } = context;
  const kind = random.pick(kinds);
  const { clearsStarted, clearsOpen } = operationLog;
  const response = await expectStatus(context, [200], client.post("/api/prompt", createGraph(kind, random, operationLog.picture)));
  const { prompt_id: id } = promptSchema.parse(response.body);
  const mayBeCleared = clearsOpen > 0 || clearsStarted !== operationLog.clearsStarted ? "maybe" : "no";
  operationLog.jobs.set(id, { id, kind, cancelled: mayBeCleared, removed: mayBeCleared, hasEnded: false });
}

async function upload(context: LoadContext): Promise<void> {
  const { client, operationLog, random } = context;
  const serialNumber = (operationLog.serial += 1);
  // Every fourth text is the same for all users, so that one blob has several owners.
  const isShared = serialNumber % 4 === 0;
  const text = `${isShared ? "everybody" : operationLog.user} number ${serialNumber} `.repeat(
    isShared ? 100 : 1 + random.integerBelow(8000),
  );
  const response = await expectStatus(context, [200, 201], client.upload(text, `${serialNumber}.txt`, { tags: JSON.stringify(["first"]) }));
  const { id, asset_hash, tags } = assetSchema.parse(response.body);
  if (asset_hash !== `blake3:${Buffer.from(blake3(text)).toString("hex")}`)
    throw new Error("the returned hash doesn't match the sent bytes");
  operationLog.assets.set(id, { id, hash: asset_hash, text, removed: "no", tags: new Map(tags.map((tag) => [tag, "yes"])) });
}

async function overwrite(context: LoadContext): Promise<void> {
  const { client, operationLog, random } = context;
  // Each file has one writer at a time, so that the expected text is known.
  const serialNumber = (operationLog.serial += 1);
  const idleFiles = ["a.json", "b.json", "c.json"].filter((name) => (operationLog.files.get(name)?.length ?? 1) === 1);
  const name = idleFiles[random.integerBelow(idleFiles.length)];
  if (name === undefined) return;
  const text = `${name} ${serialNumber} `.repeat(1 + random.integerBelow(20_000));
  operationLog.files.set(name, [...(operationLog.files.get(name) ?? [""]), text]);
  const path = `/api/userdata/${name}?overwrite=true&full_info=true`;
  const headers = { "content-type": "application/octet-stream" };
  await expectStatus(context, [200], client.call("POST", path, text, headers));
  operationLog.files.set(name, [text]);
}

async function cancel(context: LoadContext): Promise<void> {
  const { client, random, operationLog } = context;
  const job = pickJob(context, (jobFact) => jobFact.cancelled === "no" && jobFact.removed === "no" && !jobFact.hasEnded);
  if (!job || operationLog.clearsOpen > 0) return;
  operationLog.cancelsOpen += 1;
  await withUncertainty(
    (sure) => (job.cancelled = sure),
    async () => {
      if (random.integerBelow(2) === 0) {
        const response = await expectStatus(context, [200], client.post("/api/queue", { delete: [job.id] }));
        return deletionSchema.parse(response.body).deleted.includes(job.id);
      }
      const cancelResponse = await expectStatus(context, [200, 404], client.post(`/api/jobs/${job.id}/cancel`));
      return z.looseObject({ cancelled: z.boolean() }).safeParse(cancelResponse.body).data?.cancelled === true;
    },
  );
  operationLog.cancelsOpen -= 1;
}

async function clearQueue({ client, operationLog, ...context }: LoadContext): Promise<void> {
  if (operationLog.user !== "bob" || operationLog.cancelsOpen > 0 || operationLog.clearsOpen > 0) return;
  const openJobs = [...operationLog.jobs.values()].filter((job) => job.cancelled === "no" && !job.hasEnded);
  for (const job of openJobs) job.cancelled = "maybe";
  operationLog.clearsStarted += 1;
  operationLog.clearsOpen += 1;
  const response = await expectStatus({ client, operationLog, ...context }, [200], client.post("/api/queue", { clear: true }));
  operationLog.clearsOpen -= 1;
  const deleted = new Set(deletionSchema.parse(response.body).deleted);
  for (const job of openJobs) job.cancelled = deleted.has(job.id) ? "yes" : "no";
}

async function checkEndedJobs(context: LoadContext): Promise<void> {
  const response = await expectStatus(context, [200], context.client.get("/api/jobs?limit=60"));
  for (const { id, status } of jobListSchema.parse(response.body).jobs) {
    const job = context.operationLog.jobs.get(id);
    if (job && terminalStates.includes(status)) job.hasEnded = true;
  }
}

async function removeFromHistory(context: LoadContext): Promise<void> {
  if (context.operationLog.user === "bob") return;
  const job = pickJob(context, (jobFact) => jobFact.hasEnded && jobFact.removed === "no");
  if (!job) return;
  await withUncertainty(
    (sure) => (job.removed = sure),
    async () => (await expectStatus(context, [200], context.client.post("/api/history", { delete: [job.id] }))).status === 200,
  );
}

/** Jobs that end while the request is in transit may be removed too. */
async function clearHistory(context: LoadContext): Promise<void> {
  if (context.operationLog.user !== "bob" || context.operationLog.clearsOpen > 0) return;
  const all = [...context.operationLog.jobs.values()].filter((job) => job.removed === "no");
  const ended = new Set(all.filter((job) => job.hasEnded));
  for (const job of all) job.removed = "maybe";
  context.operationLog.clearsStarted += 1;
  context.operationLog.clearsOpen += 1;
  await expectStatus(context, [200], context.client.post("/api/history", { clear: true }));
  context.operationLog.clearsOpen -= 1;
  for (const job of ended) job.removed = "yes";
}

async function changeTags(context: LoadContext): Promise<void> {
  const asset = pickAsset(context);
  if (!asset) return;
  const tag = `tag-${context.random.integerBelow(3)}`;
  const isAdding = context.random.integerBelow(2) === 0;
  if (asset.tags.get(tag) === "maybe") return;
  asset.tags.set(tag, "maybe");
  const request = context.client.call(isAdding ? "POST" : "DELETE", `/api/assets/${asset.id}/tags`, { tags: [tag] });
  if ((await expectStatus(context, [200, 404], request)).status === 200) asset.tags.set(tag, isAdding ? "yes" : "no");
}

async function createFromHash(context: LoadContext): Promise<void> {
  const asset = pickAsset(context);
  if (!asset) return;
  const body = { hash: asset.hash, tags: ["first"], name: "again.txt" };
  const response = await expectStatus(context, [200, 201, 404], context.client.post("/api/assets/from-hash", body));
  if (response.status === 404) return; // the asset was just deleted
  const { id, tags } = assetSchema.parse(response.body);
  if (!context.operationLog.assets.has(id))
    context.operationLog.assets.set(id, { ...asset, id, removed: "no", tags: new Map(tags.map((tag) => [tag, "yes"])) });
}

async function deleteAsset(context: LoadContext): Promise<void> {
  const asset = pickAsset(context);
  if (!asset) return;
  await withUncertainty(
    (sure) => (asset.removed = sure),
    async () => (await expectStatus(context, [204], context.client.call("DELETE", `/api/assets/${asset.id}`))).status === 204,
  );
}

async function uploadMask(context: LoadContext): Promise<void> {
  const { client, operationLog, random } = context;
  const reference = JSON.stringify({ filename: operationLog.picture, type: "input" });
  const mask = await createMask((operationLog.serial += 1), random.integerBelow(0xffffff));
  const response = await expectStatus(
    context,
    [200],
    client.upload(mask, "m.png", { original_ref: reference }, "image", "/api/upload/mask"),
  );
  const { name, metadata } = maskSchema.parse(response.body);
  operationLog.masks.push([name, ...Object.values(metadata.related_files)]);
}

/** Deletes a picture while its previews are still being created. */
async function showAndDeletePicture(context: LoadContext): Promise<void> {
  const { client, operationLog, random } = context;
  const bytes = await createMask((operationLog.serial += 1), random.integerBelow(0xffffff));
  const response = await expectStatus(context, [201], client.upload(bytes, "fleeting.png", { tags: JSON.stringify(["fleeting"]) }));
  const { id, asset_hash } = assetSchema.parse(response.body);
  const path = `/api/view?filename=${encodeURIComponent(asset_hash)}&res=${64 + random.integerBelow(900)}`;
  const pendingDetail = expectStatus(context, [200, 404, 422], client.get(path));
  if (random.integerBelow(2) === 0) await pendingDetail;
  await Promise.all([pendingDetail, expectStatus(context, [204], client.call("DELETE", `/api/assets/${id}`))]);
}

async function stallUpload({ url, operationLog, random }: LoadContext): Promise<void> {
  operationLog.eventCount += 1;
  await sendStalledUpload({ url, key: operationLog.key, bytes: 1 + random.integerBelow(500_000), disconnects: true });
}

function pickJob({ operationLog, random }: LoadContext, matches: (job: JobFact) => boolean): JobFact | undefined {
  const jobs = [...operationLog.jobs.values()].filter(matches);
  return jobs[random.integerBelow(jobs.length)];
}

function pickAsset({ operationLog, random }: LoadContext): AssetFact | undefined {
  const assets = [...operationLog.assets.values()].filter((asset) => asset.removed === "no");
  return assets[random.integerBelow(assets.length)];
}

/** Uploads the picture that this user's graphs load. */
export async function prepareUser(client: Client, operationLog: OperationLog): Promise<void> {
  const response = await client.upload(
    await createUserPicture(operationLog.user),
    `${operationLog.user}.png`,
    {},
    "image",
    "/api/upload/image",
  );
  operationLog.picture = nameSchema.parse(response.body).name;
}

/**
 * Sends the head and part of the body of an upload, then nothing more. Resolves when the connection is closed, by this client (`disconnects`)
 * or by the other side.
 */
export function sendStalledUpload(options: { url: string; key: string; bytes: number; disconnects: boolean }): Promise<void> {
  return new Promise((resolve) => {
    const boundary = "half-an-upload";
    const uploadRequest = sendRequest(`${options.url}/api/assets`, {
      method: "POST",
      headers: {
        "x-api-key": options.key,
        "content-type": `multipart/form-data; boundary=${boundary}`,
        "content-length": String(options.bytes * 2 + 1000),
      },
    });
    uploadRequest.on("error", () => undefined); // the connection breaks on purpose
    uploadRequest.on("close", () => resolve());
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="half.bin"\r\n\r\n`;
    uploadRequest.write(head);
    uploadRequest.write(Buffer.alloc(options.bytes, "half "), () => {
      if (options.disconnects) uploadRequest.destroy();
    });
  });
}
