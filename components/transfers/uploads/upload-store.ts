// The uploads of assets in this tab.
// Guarantees: identical files are sent one after the other; a pause keeps finished hashes, and reports if bytes were being sent; a failure
// that would meet every file holds the waiting ones; failed files and alarms stay until a person deals with them.

import { CONSOLE_UNREACHABLE } from "@/lib/browser/read-failure";
import { addSample, type Speeds } from "@/lib/browser/uploads/upload";
import { createUploadQueue } from "@/lib/browser/uploads/upload-queue";
import { type Failure } from "@/lib/contract/failure";
import { createUuid } from "@/lib/shared/text";
import { type AssetFields, diffFields, fieldsWrittenExcept, mergeFields } from "./asset-fields-form";
import { type UploadConditions, uploadFile, type UploadPorts } from "./upload-file";
import { isProblem, isUnderWay, isUnfinished, type UploadItem, type UploadKind, type UploadStatus } from "./upload-item";
import { isBehind } from "./upload-state";

export type NewUpload = { file: File; assetFields: AssetFields };
/** Events for other parts of the program. */
export type UploadNews = {
  /** Called again after each later change that was written to it. */
  storedAsset: (assetId: string) => void;
};

export function createUploadStore(ports: UploadPorts, news: Partial<UploadNews> = {}) {
  let speeds: Speeds = {};
  const services = new Map<string | undefined, UploadConditions["service"]>();
  const { get, subscribe, find, keysOf, change, startPending, stop, setPaused, add, remove } = createUploadQueue<UploadItem>({
    nextItem: (items) => items.find((item) => item.status.kind === "waiting" && !isBehind(item, items)),
    initialFields: { status: { kind: "asking" } },
    async uploadFile(item, { signal, report, reportLasting }): Promise<Partial<UploadItem>> {
      const carrying = {
        ports,
        conditions: conditionsOf(item.connection),
        report: { status: (status: UploadStatus) => report({ status }), remember: reportLasting },
        isBehind: (hash: string): boolean => isBehind({ ...item, hash }, get().items),
        signal,
      };
      return { status: await uploadFile(item, carrying).catch(broken) };
    },
    onEnded(item, before, started) {
      const { key, status } = item;
      if (status.kind === "failed" && meetsOthers(status.failure, before.status.kind)) hold(({ status: { kind } }) => kind === "waiting");
      if (status.kind !== "done") return;
      news.storedAsset?.(status.asset.id);
      void judge(key);
      void describeStored(key, started.assetFields);
    },
  });

  function conditionsOf(connection: string | undefined): UploadConditions {
    const service = services.get(connection) ?? {};
    services.set(connection, service);
    return { service, speeds: () => speeds, measured: (speed, sample) => (speeds = addSample(speeds, speed, sample)) };
  }

  /** Files of any kind are stored; a picture that cannot be read is marked. */
  async function judge(key: number): Promise<void> {
    const item = find(key);
    if (item && (await ports.canBeRead(item.file)) === false) change(key, { isNoPicture: true });
  }

  /** `sentFields`: the fields sent with the file, which may have changed meanwhile. */
  function describeStored(key: number, sentFields: AssetFields): Promise<void> {
    const item = find(key);
    if (item?.status.kind !== "done") return Promise.resolve();
    const { asset, sentBytes } = item.status;
    // An asset created from a hash has no preview.
    if (asset.created_new !== false) return write(key, sentBytes > 0 ? sentFields : { ...sentFields, previewId: undefined }, item.action);
    // An existing asset keeps its description, and gets this file's description in addition.
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
    const unwritten = result.ok ? undefined : fieldsWrittenExcept(result.failure.parts, before, assetFields);
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
    // Its last bytes may have been sent: looks it up at the service before sending again.
    change(key, { status: { kind: "paused", isLost: wasSending }, ...(wasSending && { mayBeStored: true }) });
  }

  /** Starts nothing until it is released; a file started by hand runs anyway. */
  function hold(matches: (item: UploadItem) => boolean) {
    const keys = keysOf(matches);
    if (keys.size === 0) return;
    setPaused(true);
    for (const key of keys) pause(key);
  }
  const release = () => setPaused(false);

  function wait(key: number) {
    const item = find(key);
    if (item?.status.kind !== "paused" && item?.status.kind !== "failed") return;
    // An id that the service rejected is not used again.
    const isIdSpent = item.status.kind === "failed" && item.status.failure.code === "ASSET_ID_UNAVAILABLE";
    change(key, { status: { kind: "waiting" }, ...(isIdSpent && { id: createUuid(), mayBeStored: false }) });
  }

  return {
    get,
    speeds: () => speeds,
    subscribe,
    /** `takesNoId`: the service accepts no ids, so none is sent. */
    add(uploads: readonly NewUpload[], connection?: string, takesNoId = false) {
      if (!get().items.some(isUnfinished)) release();
      if (takesNoId) conditionsOf(connection).service.takesNoId = true;
      const action = createUuid();
      const common = { connection, action, mayBeStored: false, status: { kind: "waiting" } } as const;
      add(uploads.map((upload) => (key) => ({ ...upload, ...common, key, id: createUuid() })));
    },
    pause(key: number) {
      pause(key);
      startPending();
    },
    /** Also for failed files, and for descriptions that could not be written. */
    again(key: number) {
      const unwritten = find(key)?.standing;
      if (unwritten) void write(key, unwritten, createUuid());
      release();
      wait(key);
      startPending();
    },
    pauseAll: () => hold(isUnfinished),
    resumeAll() {
      release();
      for (const key of keysOf(({ status }) => status.kind === "paused")) wait(key);
      startPending();
    },
    retryAll() {
      release();
      for (const key of keysOf(({ status }) => status.kind === "failed")) wait(key);
      startPending();
    },
    /** Aborts its request, if there is one. */
    remove(key: number) {
      remove(new Set([key]));
    },
    cancelAll() {
      remove(keysOf(isUnfinished));
      release();
    },
    /** Stored files leave the list; problems stay. */
    clear: () => remove(keysOf((item) => item.status.kind === "done" && !isProblem(item))),
    /** Alarms stay: each is dismissed separately. */
    dropFailed: () => remove(keysOf(({ status }) => status.kind === "failed")),
    /** For waiting files the description is sent along; for files stored or being sent it is written afterwards. */
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

/** Not the file's fault: the service is away, or the session has ended. A connection lost while sending bytes may be due to this file. */
function meetsOthers({ status, code }: Failure, during: UploadKind | undefined): boolean {
  if (status === 401 || code === "UPSTREAM_REFUSED_KEY") return true;
  return during === "asking" && (code === CONSOLE_UNREACHABLE || [502, 503, 504].includes(status));
}

/** A programming error: reported as one, and the queue continues. */
function broken(cause: unknown): UploadStatus {
  console.error(cause);
  return { kind: "failed", failure: { code: "INTERNAL", message: "", status: 0 } };
}
