// Creates a share: a fixed list of items, accessed with a token that is shown once and stored as a hash.

import "server-only";
import { randomBytes, randomUUID } from "node:crypto";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { type z } from "zod";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { toPlainLine } from "@/lib/contract/plain-line";
import { maskText } from "@/lib/contract/secrets/secret-texts";
import { type CreatedShare, MAX_SHARED_ASSETS, type NotCleanableDetails, type shareBodySchema } from "@/lib/contract/share";
import { toAssetView } from "@/lib/contract/views/asset-view";
import { listOutputs, type OutputView } from "@/lib/contract/views/outputs-view";
import { createLimiter } from "@/lib/shared/async";
import { readImageSize } from "@/lib/shared/image-size";
import { failed, ok, type Result } from "@/lib/shared/result";
import { hashPassword } from "../auth/passwords";
import { type Dependencies } from "../composition-type";
import { type Access } from "../connections/access";
import { requestRedacted } from "../responses/process-response";
import { redactForBrowser } from "../responses/redact";
import { type ShareItem } from "../store/shares";
import { isEmbedded } from "../upstream/send";
import { readHead } from "../upstream/streams";
import { isCleanable } from "./clean/clean";
import { getContentHash, openOriginal, openUnchecked, readBytes, toValidator, UnreadableItemError } from "./item-source";

type Body = z.output<typeof shareBodySchema>;

const MAX_CONCURRENT_READS = 6;
const MAX_TEXT_LENGTH = 20_000;

const serviceDisconnected = createFailure(
  "UPSTREAM_ERROR",
  "The service disconnected while reading the files. Nothing was shared. Try again.",
);

export async function createShare(access: Access, body: Body, signal: AbortSignal): Promise<Result<CreatedShare, Failure>> {
  const { store, now } = access.composition;
  const result = await (body.job === undefined ? findChosenAssets(access, body.assets, signal) : findJobOutputs(access, body.job, signal));
  if (!result.ok) return result;
  const uncleanableItems = body.keepsMetadata ? [] : result.value.filter((item) => !canBeCleaned(item));
  if (uncleanableItems.length > 0 && !body.leavesOut) {
    const details: NotCleanableDetails = { notCleanable: uncleanableItems.map(({ name }) => name) };
    return failed(createFailure("UNPROCESSABLE", "Metadata cannot be removed from some of these files.", details));
  }
  const shareableItems = result.value.filter((item) => !uncleanableItems.includes(item)).slice(0, MAX_SHARED_ASSETS);
  if (shareableItems.length === 0) return failed(createFailure("UNPROCESSABLE", "There is nothing to share."));
  const describedItems = await mapWithLimit(shareableItems, (item) => describeItem(access, item, signal));
  if (describedItems.includes("disconnected")) return failed(serviceDisconnected);
  const items = describedItems.filter((item) => typeof item === "object");
  if (items.length === 0) return failed(createFailure("UNPROCESSABLE", "The service returned none of these files. Try again later."));
  const token = randomBytes(32).toString("base64url");
  const createdAt = now();
  const expiresAt = createdAt + body.expiresInMs;
  const id = randomUUID();
  const title =
    body.title === "" ? await createDefaultTitle(access.composition, access.viewer.memberId, items, createdAt) : maskText(body.title);
  await store.shares.create({
    token,
    items,
    id,
    memberId: access.viewer.memberId,
    connectionId: access.connection.id,
    baseUrl: access.connection.baseUrl,
    jobId: body.job,
    title,
    passwordHash: body.password === undefined ? undefined : await hashPassword(body.password),
    keepsMetadata: body.keepsMetadata,
    showsMaker: body.showsMaker,
    showsWorkflow: body.showsWorkflow && body.job !== undefined,
    createdAt,
    expiresAt,
  });
  return ok({ id, title, path: `/share/${token}`, expiresAt, count: items.length });
}

const MAX_NAME_LENGTH = 80;

/** The date and the first file's name, numbered if an earlier share of the member has the same title. */
async function createDefaultTitle(
  { store }: Dependencies<"store">,
  memberId: string,
  items: readonly ShareItem[],
  nowMs: number,
): Promise<string> {
  const name = toPlainLine(items.find((item) => item.name !== "")?.name ?? "").slice(0, MAX_NAME_LENGTH);
  const title = `${new Date(nowMs).toISOString().slice(0, 10)} ${name}`.trim();
  const usedTitles = new Set((await store.shares.list(memberId)).map((share) => share.title));
  let number = 1;
  while (usedTitles.has(number === 1 ? title : `${title} (${number})`)) number += 1;
  return number === 1 ? title : `${title} (${number})`;
}

function canBeCleaned({ text, name, mimeType }: ShareItem): boolean {
  return text !== undefined || isCleanable(name, mimeType);
}

async function findChosenAssets(access: Access, ids: readonly string[], signal: AbortSignal): Promise<Result<ShareItem[], Failure>> {
  const results = await mapWithLimit([...new Set(ids)], (id) => access.upstream.call(operations.getAsset, { params: { id }, signal }));
  const items: ShareItem[] = [];
  for (const result of results) {
    if (!result.ok) return failed(redactForBrowser(result.failure, access));
    const view = toAssetView(result.value);
    const { width, height, kind, mimeType, sizeBytes: size } = view;
    const hash = getContentHash(result.value);
    const name = maskText(result.value.display_name || view.name);
    items.push({
      ...(view.file ? { file: view.file } : { asset: view.id }),
      ...{ name, kind, mimeType, size, hash, width, height },
      isFixed: hash !== undefined,
    });
  }
  return ok(items);
}

/** Permanent files, or temporary ones if there are no others. */
async function findJobOutputs(access: Access, id: string, signal: AbortSignal): Promise<Result<ShareItem[], Failure>> {
  const jobResult = await requestRedacted(operations.getJob, access, { params: { job_id: id }, signal });
  if (!jobResult.ok) return jobResult;
  const outputs = listOutputs(jobResult.value.value.outputs);
  const permanentOutputs = outputs.filter(({ temporary }) => !temporary);
  return ok(
    (permanentOutputs.length > 0 ? permanentOutputs : outputs).flatMap((output) => toItems(output, isEmbedded(access.connection.baseUrl))),
  );
}

function toItems({ file, name, kind, text }: OutputView, isNamedByHash: boolean): ShareItem[] {
  if (text !== undefined) return [{ text: text.slice(0, MAX_TEXT_LENGTH), name: "", kind: "text", isFixed: true }];
  if (!file || kind === "json") return [];
  const hash = isNamedByHash ? /^([0-9a-f]{64})\./.exec(file.filename)?.[1] : undefined;
  return [{ file, name: maskText(name), kind, hash, isFixed: hash !== undefined }];
}

const HEAD_BYTES = 64 * 1024;
const MAX_HASHED_BYTES = 256 * 1024 ** 2;

/** Returns undefined if the file could not be read, because its replacement would then go undetected. */
async function describeItem(access: Access, item: ShareItem, signal: AbortSignal): Promise<ShareItem | undefined | "disconnected"> {
  try {
    const hashedItem = item.isFixed ? item : await hashItem(access, item, signal);
    if (hashedItem?.kind !== "image" || hashedItem.width !== undefined) return hashedItem;
    const size = await readImageSize(await readImageHeader(access, hashedItem, signal));
    return { ...hashedItem, ...size };
  } catch (error) {
    if (error instanceof UnreadableItemError) return "disconnected";
    throw error;
  }
}

/** The beginning of an image contains its size, which the page needs for its layout. */
async function readImageHeader(access: Access, item: ShareItem, signal: AbortSignal): Promise<Uint8Array> {
  const originalResult = await openOriginal(access, item, { signal, headers: { range: `bytes=0-${HEAD_BYTES - 1}` } });
  if (!originalResult.ok) return new Uint8Array();
  return readHead(originalResult.value.body, HEAD_BYTES, { signal }).catch((cause: unknown) => {
    throw new UnreadableItemError("the service disconnected", { cause });
  });
}

/** Computes a hash and a validator, so that later requests detect a replaced file. */
async function hashItem(access: Access, item: ShareItem, signal: AbortSignal): Promise<ShareItem | undefined> {
  const uncheckedResult = await openUnchecked(access, item, { signal });
  if (!uncheckedResult.ok) return undefined;
  const validator = toValidator(uncheckedResult.value);
  const hasher = new Blake3Hasher();
  let size = 0;
  for await (const bytes of readBytes(uncheckedResult.value)) {
    hasher.update(Buffer.from(bytes));
    size += bytes.byteLength;
    if (size > MAX_HASHED_BYTES) return { ...item, validator };
  }
  return { ...item, validator, size, hash: hasher.digestBuffer().toString("hex") };
}

async function mapWithLimit<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const limit = createLimiter(MAX_CONCURRENT_READS);
  return Promise.all(items.map((item) => limit(() => work(item))));
}
