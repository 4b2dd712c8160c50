// Stores the asset uploads of this tab.
// Identical files are sent one after the other. A pause keeps finished hashes. A failure that would affect every file pauses the waiting
// files. Failed files and content mismatches remain until the user handles them.

import { notifyStoredAssets } from "@/components/frame/stored-assets";
import { callApi, type CallInit } from "@/lib/browser/api";
import { type ApiFailure, CONSOLE_UNREACHABLE } from "@/lib/browser/api-failure";
import { retryRateLimited } from "@/lib/browser/bulk/bulk-calls";
import { createAssetFromHash, hashInWorker } from "@/lib/browser/uploads/asset-from-hash";
import { canDecodeImage } from "@/lib/browser/uploads/image-decoding";
import { addSample, type Speeds, upload } from "@/lib/browser/uploads/upload";
import { createUploadQueue } from "@/lib/browser/uploads/upload-queue";
import { withQuery } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { ACTION_HEADER } from "@/lib/shared/headers";
import { failed, ok, type Result } from "@/lib/shared/result";
import { createUuid } from "@/lib/shared/text";
import { type AssetFieldPart, type AssetFields, diffFields, type FieldChanges, getWrittenFields, mergeFields } from "./asset-fields-form";
import { type RequestOptions, type UploadConditions, type UploadDependencies, uploadFile } from "./upload-file";
import {
  type FieldsFailure,
  isInProgress,
  isProblem,
  isUnfinished,
  type StoredAsset,
  type UploadItem,
  type UploadKind,
  type UploadStatus,
} from "./upload-item";
import { isDuplicateInProgress } from "./upload-state";

export type NewUpload = { file: File; assetFields: AssetFields };
/** Events for other modules. */
export type UploadEvents = {
  /** Called when an asset is stored, and after each later change. */
  onAssetStored: (assetId: string) => void;
};

export function createUploadStore(dependencies: UploadDependencies, events: Partial<UploadEvents> = {}) {
  let speeds: Speeds = {};
  const servicesByConnection = new Map<string | undefined, UploadConditions["service"]>();
  const { get, subscribe, find, findKeys, updateItem, startPending, stop, setPaused, add, remove } = createUploadQueue<UploadItem>({
    getNextItem: (items) => items.find((item) => item.status.kind === "waiting" && !isDuplicateInProgress(item, items)),
    initialFields: { status: { kind: "asking" } },
    async uploadFile(item, { signal, report, reportPersistent }): Promise<Partial<UploadItem>> {
      const context = {
        dependencies,
        conditions: getConditions(item.connection),
        report: { status: (status: UploadStatus) => report({ status }), updateItem: reportPersistent },
        isDuplicateInProgress: (hash: string): boolean => isDuplicateInProgress({ ...item, hash }, get().items),
        signal,
      };
      return { status: await uploadFile(item, context).catch(toFailedStatus) };
    },
    onEnded(item, previousItem, startedItem) {
      const { key, status } = item;
      if (status.kind === "failed" && affectsAllFiles(status.failure, previousItem.status.kind))
        pauseMatching(({ status: { kind } }) => kind === "waiting");
      if (status.kind !== "done") return;
      events.onAssetStored?.(status.asset.id);
      void checkPicture(key);
      void writeStoredFields(key, startedItem.assetFields);
    },
  });

  function getConditions(connection: string | undefined): UploadConditions {
    const service = servicesByConnection.get(connection) ?? {};
    servicesByConnection.set(connection, service);
    return { service, getSpeeds: () => speeds, recordSpeed: (speed, sample) => (speeds = addSample(speeds, speed, sample)) };
  }

  /** Marks images that can't be decoded. They are uploaded anyway. */
  async function checkPicture(key: number): Promise<void> {
    const item = find(key);
    if (item && (await dependencies.isReadablePicture(item.file)) === false) updateItem(key, { isUndecodable: true });
  }

  /** `sentFields`: the fields sent with the file, which may have changed meanwhile. */
  function writeStoredFields(key: number, sentFields: AssetFields): Promise<void> {
    const item = find(key);
    if (item?.status.kind !== "done") return Promise.resolve();
    const { asset, sentBytes } = item.status;
    // Assets created from a hash have no preview.
    if (asset.created_new !== false)
      return writeFields(key, sentBytes > 0 ? sentFields : { ...sentFields, previewId: undefined }, item.action);
    // Merges the file's fields into those of the existing asset.
    const existingFields = { name: asset.name ?? "", tags: asset.tags ?? sentFields.tags, metadata: asset.user_metadata ?? {} };
    updateItem(key, { assetFields: { ...mergeFields(existingFields, item.assetFields), name: item.assetFields.name } });
    return writeFields(key, existingFields, item.action);
  }

  /** Writes the fields that differ from those of the stored asset. */
  async function writeFields(key: number, existingFields: AssetFields, action: string | undefined): Promise<void> {
    const item = find(key);
    if (item?.status.kind !== "done") return;
    const { connection, assetFields } = item;
    const changes = diffFields(existingFields, assetFields);
    if (!changes) return;
    updateItem(key, { fieldsUpdate: "now" });
    const options = { connection, action, signal: new AbortController().signal, onHold: () => undefined };
    const result = await dependencies.saveChanges(item.status.asset.id, changes, options);
    const currentFields = result.ok ? undefined : getWrittenFields(result.failure.parts, existingFields, assetFields);
    updateItem(key, { fieldsUpdate: result.ok ? undefined : result.failure, storedFields: currentFields });
    if (result.ok) events.onAssetStored?.(item.status.asset.id);
    const currentItem = find(key);
    if (result.ok && typeof changes.fields.name === "string" && currentItem?.status.kind === "done") {
      updateItem(key, { status: { ...currentItem.status, asset: { ...currentItem.status.asset, name: changes.fields.name } } });
    }
  }

  function pause(key: number) {
    const item = find(key);
    if (!item || (item.status.kind !== "waiting" && !isInProgress(item)) || item.status.kind === "checking") return;
    const wasSending = item.status.kind === "sending";
    stop(key);
    // All bytes may have been sent, so the file is looked up before sending again.
    updateItem(key, { status: { kind: "paused", hasLostProgress: wasSending }, ...(wasSending && { mayBeStored: true }) });
  }

  /** Pauses matching files and the queue. Until it is resumed, only files that the user starts are sent. */
  function pauseMatching(matches: (item: UploadItem) => boolean) {
    const keys = findKeys(matches);
    if (keys.size === 0) return;
    setPaused(true);
    for (const key of keys) pause(key);
  }
  const resumeQueue = () => setPaused(false);

  function requeue(key: number) {
    const item = find(key);
    if (item?.status.kind !== "paused" && item?.status.kind !== "failed") return;
    // An id that the service rejected is not used again.
    const isIdRejected = item.status.kind === "failed" && item.status.failure.code === "ASSET_ID_UNAVAILABLE";
    updateItem(key, { status: { kind: "waiting" }, ...(isIdRejected && { id: createUuid(), mayBeStored: false }) });
  }

  return {
    get,
    getSpeeds: () => speeds,
    subscribe,
    /** `rejectsIds`: whether the service rejects client-generated ids. */
    add(uploads: readonly NewUpload[], connection?: string, rejectsIds = false) {
      if (!get().items.some(isUnfinished)) resumeQueue();
      if (rejectsIds) getConditions(connection).service.rejectsIds = true;
      const action = createUuid();
      const sharedFields = { connection, action, mayBeStored: false, status: { kind: "waiting" } } as const;
      add(uploads.map((upload) => (key) => ({ ...upload, ...sharedFields, key, id: createUuid() })));
    },
    pause(key: number) {
      pause(key);
      startPending();
    },
    /** Resumes a paused file, or retries a failed file or failed changes of its fields. */
    retry(key: number) {
      const storedFields = find(key)?.storedFields;
      if (storedFields) void writeFields(key, storedFields, createUuid());
      resumeQueue();
      requeue(key);
      startPending();
    },
    pauseAll: () => pauseMatching(isUnfinished),
    resumeAll() {
      resumeQueue();
      for (const key of findKeys(({ status }) => status.kind === "paused")) requeue(key);
      startPending();
    },
    retryAll() {
      resumeQueue();
      for (const key of findKeys(({ status }) => status.kind === "failed")) requeue(key);
      startPending();
    },
    /** Removes a file and aborts its request, if any. */
    remove(key: number) {
      remove(new Set([key]));
    },
    cancelAll() {
      remove(findKeys(isUnfinished));
      resumeQueue();
    },
    /** Removes stored files without problems. */
    clearStored: () => remove(findKeys((item) => item.status.kind === "done" && !isProblem(item))),
    /** Removes failed files. Content mismatches are dismissed one by one. */
    clearFailed: () => remove(findKeys(({ status }) => status.kind === "failed")),
    /** Changes the fields of files. For files that are stored or being sent, the changes are written afterwards. */
    updateFields(keys: ReadonlySet<number>, getFields: (item: UploadItem) => AssetFields) {
      const action = createUuid();
      for (const key of keys) {
        const item = find(key);
        if (!item) continue;
        updateItem(key, { assetFields: getFields(item) });
        void writeFields(key, item.storedFields ?? item.assetFields, action);
      }
    },
  };
}

/** Whether the failure affects all files, such as an unreachable service. A connection lost while sending may be caused by one file. */
function affectsAllFiles({ status, code }: Failure, statusKind: UploadKind | undefined): boolean {
  if (status === 401 || code === "UPSTREAM_REFUSED_KEY") return true;
  return statusKind === "asking" && (code === CONSOLE_UNREACHABLE || [502, 503, 504].includes(status));
}

/** Logs a programming error and fails the upload, so that the queue continues. */
function toFailedStatus(cause: unknown): UploadStatus {
  console.error(cause);
  return { kind: "failed", failure: { code: "INTERNAL", message: "", status: 0 } };
}

/** One store per tab, since uploads outlive the page that started them. */
export const tabUploads = createUploadStore(
  {
    hash: hashInWorker,
    findById: (id, options) => callService<StoredAsset>(options, getAssetPath(id), {}),
    async createFromHash(hash, file, assetFields, options) {
      const offer = {
        hash: `blake3:${hash}`,
        tags: assetFields.tags,
        ...(file.type && { mime_type: file.type }),
        ...toFormFields(file, assetFields),
      };
      const offerResult = await retryWithHold(options, () => createAssetFromHash<StoredAsset>(offer, options));
      if (!offerResult.ok) return offerResult;
      if (offerResult.value.kind === "unsure" && offerResult.value.failure) return failed(offerResult.value.failure);
      return ok(offerResult.value.kind === "made" ? offerResult.value.asset : undefined);
    },
    send: ({ id, file, assetFields }, { onProgress, ...requestOptions }) => {
      const { connection, signal, action } = requestOptions;
      const fields = { id, tags: assetFields.tags, preview_id: assetFields.previewId, ...toFormFields(file, assetFields) };
      const form = new FormData();
      // Fields before the bytes, so that a streaming reader has them first.
      for (const [name, value] of Object.entries(fields))
        if (value !== undefined) form.set(name, typeof value === "string" ? value : writeExactJson(value));
      form.set("file", file, file.name);
      return retryWithHold(requestOptions, () =>
        upload<StoredAsset>(withQuery("/api/assets", { connection }), { form, onProgress, signal, action }),
      );
    },
    isReadablePicture: canDecodeImage,
    saveChanges: writeChanges,
    nowMs: () => performance.now(),
  },
  { onAssetStored: notifyStoredAssets },
);

function callService<T>(options: RequestOptions, path: `/${string}`, init: CallInit) {
  const { connection, signal, action } = options;
  const headers = action === undefined ? undefined : { [ACTION_HEADER]: action };
  return retryWithHold(options, () => callApi<T>(withQuery(path, { connection }), { ...init, headers, signal, cache: "no-store" }));
}

function retryWithHold<T>({ signal, onHold }: RequestOptions, request: () => Promise<Result<T, ApiFailure>>) {
  return retryRateLimited(request, { signal, onWait: (ms) => onHold(ms !== undefined) });
}

/** Writes each part separately, since a service may not support all of them. Reports the first failure. */
async function writeChanges(
  id: string,
  { addedTags, removedTags, fields }: FieldChanges,
  options: RequestOptions,
): Promise<Result<unknown, FieldsFailure>> {
  const tagsPath: `/${string}` = `${getAssetPath(id)}/tags`;
  const calls: { path: `/${string}`; init: CallInit; parts: AssetFieldPart[] }[] = [];
  if (addedTags.length > 0) calls.push({ path: tagsPath, init: { method: "POST", json: { tags: addedTags } }, parts: ["tags"] });
  if (removedTags.length > 0) calls.push({ path: tagsPath, init: { method: "DELETE", json: { tags: removedTags } }, parts: ["tags"] });
  const fieldParts = fieldOrder.flatMap(([field, part]) => (field in fields ? [part] : []));
  if (fieldParts.length > 0) calls.push({ path: getAssetPath(id), init: { method: "PUT", json: fields }, parts: fieldParts });
  let failure: ApiFailure | undefined;
  const parts: AssetFieldPart[] = [];
  for (const { path, init, parts: callParts } of calls) {
    const result = await callService(options, path, init);
    if (result.ok) continue;
    failure ??= result.failure;
    parts.push(...callParts);
  }
  return failure ? failed({ failure, parts: [...new Set(parts)] }) : ok(undefined);
}

const fieldOrder = [
  ["name", "name"],
  ["user_metadata", "metadata"],
  ["preview_id", "preview"],
] as const satisfies readonly (readonly [string, AssetFieldPart])[];

const getAssetPath = (id: string): `/${string}` => `/api/assets/${encodeURIComponent(id)}`;

function toFormFields(file: File, { name, metadata }: AssetFields) {
  return { name: name || file.name, ...(Object.keys(metadata).length > 0 && { user_metadata: metadata }) };
}
