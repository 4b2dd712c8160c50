// The uploads of assets in this tab.
// Guarantees: identical files are sent one after the other. A pause keeps finished hashes. A failure that would affect every file pauses the
// waiting ones. Failed files and alarms remain until the user handles them.

import { notifyStoredAssets } from "@/components/frame/stored-assets";
import { callApi, type CallInit } from "@/lib/browser/api";
import { retryRateLimited } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure, CONSOLE_UNREACHABLE } from "@/lib/browser/read-failure";
import { hashPool, offerHash } from "@/lib/browser/uploads/offer-hash";
import { canDecode } from "@/lib/browser/uploads/picture-check";
import { addSample, type Speeds, upload } from "@/lib/browser/uploads/upload";
import { createUploadQueue } from "@/lib/browser/uploads/upload-queue";
import { withQuery } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { ACT_HEADER } from "@/lib/shared/headers";
import { failed, ok, type Result } from "@/lib/shared/result";
import { createUuid } from "@/lib/shared/text";
import { type AssetFieldPart, type AssetFields, diffFields, type FieldChanges, mergeFields, withWrittenParts } from "./asset-fields-form";
import { type RequestOptions, type UploadConditions, uploadFile, type UploadPorts } from "./upload-file";
import {
  type FieldsFailure,
  isProblem,
  isUnderWay,
  isUnfinished,
  type StoredAsset,
  type UploadItem,
  type UploadKind,
  type UploadStatus,
} from "./upload-item";
import { isBehind } from "./upload-state";

export type NewUpload = { file: File; assetFields: AssetFields };
/** Events for other parts of the program. */
export type UploadNews = {
  /** Called when an asset is stored, and after each later change. */
  storedAsset: (assetId: string) => void;
};

export function createUploadStore(ports: UploadPorts, news: Partial<UploadNews> = {}) {
  let speeds: Speeds = {};
  const services = new Map<string | undefined, UploadConditions["service"]>();
  const { get, subscribe, find, keysOf, change, startPending, stop, setPaused, add, remove } = createUploadQueue<UploadItem>({
    nextItem: (items) => items.find((item) => item.status.kind === "waiting" && !isBehind(item, items)),
    initialFields: { status: { kind: "asking" } },
    async uploadFile(item, { signal, report, reportLasting }): Promise<Partial<UploadItem>> {
      const context = {
        ports,
        conditions: getConditions(item.connection),
        report: { status: (status: UploadStatus) => report({ status }), remember: reportLasting },
        isBehind: (hash: string): boolean => isBehind({ ...item, hash }, get().items),
        signal,
      };
      return { status: await uploadFile(item, context).catch(toFailedStatus) };
    },
    onEnded(item, before, started) {
      const { key, status } = item;
      if (status.kind === "failed" && affectsAllFiles(status.failure, before.status.kind))
        pauseMatching(({ status: { kind } }) => kind === "waiting");
      if (status.kind !== "done") return;
      news.storedAsset?.(status.asset.id);
      void checkPicture(key);
      void describeStored(key, started.assetFields);
    },
  });

  function getConditions(connection: string | undefined): UploadConditions {
    const service = services.get(connection) ?? {};
    services.set(connection, service);
    return { service, speeds: () => speeds, measured: (speed, sample) => (speeds = addSample(speeds, speed, sample)) };
  }

  /** Marks pictures that can't be decoded. They are uploaded anyway. */
  async function checkPicture(key: number): Promise<void> {
    const item = find(key);
    if (item && (await ports.canBeRead(item.file)) === false) change(key, { isNoPicture: true });
  }

  /** `sentFields`: the fields sent with the file, which may have changed meanwhile. */
  function describeStored(key: number, sentFields: AssetFields): Promise<void> {
    const item = find(key);
    if (item?.status.kind !== "done") return Promise.resolve();
    const { asset, sentBytes } = item.status;
    // Assets created from a hash have no preview.
    if (asset.created_new !== false) return write(key, sentBytes > 0 ? sentFields : { ...sentFields, previewId: undefined }, item.action);
    // The file's description is merged into that of an existing asset.
    const before = { name: asset.name ?? "", tags: asset.tags ?? sentFields.tags, metadata: asset.user_metadata ?? {} };
    change(key, { assetFields: { ...mergeFields(before, item.assetFields), name: item.assetFields.name } });
    return write(key, before, item.action);
  }

  /** Writes the parts of the description that the stored asset lacks. */
  async function write(key: number, before: AssetFields, action: string | undefined): Promise<void> {
    const item = find(key);
    if (item?.status.kind !== "done") return;
    const { connection, assetFields } = item;
    const changes = diffFields(before, assetFields);
    if (!changes) return;
    change(key, { changing: "now" });
    const options = { connection, action, signal: new AbortController().signal, onHold: () => undefined };
    const result = await ports.change(item.status.asset.id, changes, options);
    const unwritten = result.ok ? undefined : withWrittenParts(result.failure.parts, before, assetFields);
    change(key, { changing: result.ok ? undefined : result.failure, standing: unwritten });
    if (result.ok) news.storedAsset?.(item.status.asset.id);
    const now = find(key);
    if (result.ok && typeof changes.fields.name === "string" && now?.status.kind === "done") {
      change(key, { status: { ...now.status, asset: { ...now.status.asset, name: changes.fields.name } } });
    }
  }

  function pause(key: number) {
    const item = find(key);
    if (!item || (item.status.kind !== "waiting" && !isUnderWay(item)) || item.status.kind === "checking") return;
    const wasSending = item.status.kind === "sending";
    stop(key);
    // All bytes may have been sent, so the file is looked up before sending again.
    change(key, { status: { kind: "paused", isLost: wasSending }, ...(wasSending && { mayBeStored: true }) });
  }

  /** Starts no files until released, except files that the user starts. */
  function pauseMatching(matches: (item: UploadItem) => boolean) {
    const keys = keysOf(matches);
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
    change(key, { status: { kind: "waiting" }, ...(isIdRejected && { id: createUuid(), mayBeStored: false }) });
  }

  return {
    get,
    speeds: () => speeds,
    subscribe,
    /** `takesNoId`: the service accepts no ids. */
    add(uploads: readonly NewUpload[], connection?: string, takesNoId = false) {
      if (!get().items.some(isUnfinished)) resumeQueue();
      if (takesNoId) getConditions(connection).service.takesNoId = true;
      const action = createUuid();
      const common = { connection, action, mayBeStored: false, status: { kind: "waiting" } } as const;
      add(uploads.map((upload) => (key) => ({ ...upload, ...common, key, id: createUuid() })));
    },
    pause(key: number) {
      pause(key);
      startPending();
    },
    /** Resumes a paused file, or retries a failed file or description. */
    again(key: number) {
      const unwritten = find(key)?.standing;
      if (unwritten) void write(key, unwritten, createUuid());
      resumeQueue();
      requeue(key);
      startPending();
    },
    pauseAll: () => pauseMatching(isUnfinished),
    resumeAll() {
      resumeQueue();
      for (const key of keysOf(({ status }) => status.kind === "paused")) requeue(key);
      startPending();
    },
    retryAll() {
      resumeQueue();
      for (const key of keysOf(({ status }) => status.kind === "failed")) requeue(key);
      startPending();
    },
    /** Removes a file and aborts its request, if any. */
    remove(key: number) {
      remove(new Set([key]));
    },
    cancelAll() {
      remove(keysOf(isUnfinished));
      resumeQueue();
    },
    /** Removes stored files without problems. */
    clear: () => remove(keysOf((item) => item.status.kind === "done" && !isProblem(item))),
    /** Removes failed files. Alarms are dismissed one by one. */
    dropFailed: () => remove(keysOf(({ status }) => status.kind === "failed")),
    /** Changes descriptions. For files that are stored or being sent, they are written afterwards. */
    describe(keys: ReadonlySet<number>, assetFields: (item: UploadItem) => AssetFields) {
      const action = createUuid();
      for (const key of keys) {
        const item = find(key);
        if (!item) continue;
        change(key, { assetFields: assetFields(item) });
        void write(key, item.standing ?? item.assetFields, action);
      }
    },
  };
}

/** Whether the failure affects all files, such as an unreachable service. A connection lost while sending may be caused by this file. */
function affectsAllFiles({ status, code }: Failure, during: UploadKind | undefined): boolean {
  if (status === 401 || code === "UPSTREAM_REFUSED_KEY") return true;
  return during === "asking" && (code === CONSOLE_UNREACHABLE || [502, 503, 504].includes(status));
}

/** Reports a programming error, so that the queue continues. */
function toFailedStatus(cause: unknown): UploadStatus {
  console.error(cause);
  return { kind: "failed", failure: { code: "INTERNAL", message: "", status: 0 } };
}

/** One store per tab, since uploads outlive the page that started them. */
export const tabUploads = createUploadStore(
  {
    hash: hashPool,
    byId: (id, options) => call<StoredAsset>(options, assetPath(id), {}),
    async fromHash(hash, file, assetFields, options) {
      const offer = {
        hash: `blake3:${hash}`,
        tags: assetFields.tags,
        ...(file.type && { mime_type: file.type }),
        ...toFormFields(file, assetFields),
      };
      const offerResult = await retryWithHold(options, () => offerHash<StoredAsset>(offer, options));
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
        upload<StoredAsset>(withQuery("/api/assets", { connection }), { form, onProgress, signal, act: action }),
      );
    },
    canBeRead: canDecode,
    change: writeChanges,
    nowMs: () => performance.now(),
  },
  { storedAsset: notifyStoredAssets },
);

function call<T>(options: RequestOptions, path: `/${string}`, init: CallInit) {
  const { connection, signal, action } = options;
  const headers = action === undefined ? undefined : { [ACT_HEADER]: action };
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
  const tags: `/${string}` = `${assetPath(id)}/tags`;
  const calls: { path: `/${string}`; init: CallInit; parts: AssetFieldPart[] }[] = [];
  if (addedTags.length > 0) calls.push({ path: tags, init: { method: "POST", json: { tags: addedTags } }, parts: ["tags"] });
  if (removedTags.length > 0) calls.push({ path: tags, init: { method: "DELETE", json: { tags: removedTags } }, parts: ["tags"] });
  const fieldParts = fieldOrder.flatMap(([field, part]) => (field in fields ? [part] : []));
  if (fieldParts.length > 0) calls.push({ path: assetPath(id), init: { method: "PUT", json: fields }, parts: fieldParts });
  let failure: ApiFailure | undefined;
  const parts: AssetFieldPart[] = [];
  for (const { path, init, parts: writtenParts } of calls) {
    const result = await call(options, path, init);
    if (result.ok) continue;
    failure ??= result.failure;
    parts.push(...writtenParts);
  }
  return failure ? failed({ failure, parts: [...new Set(parts)] }) : ok(undefined);
}

const fieldOrder = [
  ["name", "name"],
  ["user_metadata", "metadata"],
  ["preview_id", "preview"],
] as const satisfies readonly (readonly [string, AssetFieldPart])[];

const assetPath = (id: string): `/${string}` => `/api/assets/${encodeURIComponent(id)}`;

function toFormFields(file: File, { name, metadata }: AssetFields) {
  return { name: name || file.name, ...(Object.keys(metadata).length > 0 && { user_metadata: metadata }) };
}
