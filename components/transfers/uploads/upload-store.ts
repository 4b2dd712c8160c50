// The uploads of this tab, outside every page: they continue while the person looks at a job.
// Guarantees: three at a time, at most one upload per file, identical files one after the other; an answer that arrives after its upload
// was paused, removed or restarted is ignored;
// a pause keeps finished hashes, and reports if bytes were being sent; a failure that would meet every file holds the waiting ones.
// Must never: start on the server; only handlers call it.

import { createStore } from "zustand/vanilla";
import { CONSOLE_UNREACHABLE } from "@/lib/browser/read-failure";
import { type Speeds, withSample } from "@/lib/browser/uploads/upload";
import { type Failure } from "@/lib/contract/failure";
import { newUuid } from "@/lib/shared/text";
import { type About, changesBetween, mergeAbout, writtenBut } from "./about-form";
import { carry, type Learnt, type UploadPorts } from "./carry";
import { isAlarm, isUnderWay, isUnfinished, type UploadItem, type UploadKind, type UploadStatus } from "./upload-item";
import { isBehind, nextToStart, noUploads, type UploadAction, type UploadQueue, uploadReducer } from "./upload-state";

export type NewUpload = { file: File; about: About };
/** Events for other parts of the program. */
export type UploadNews = {
  /** Called again after each later change that was written to it. */
  stored: (assetId: string) => void;
  /** The service holds something else; `dismissed`: that alarm was removed from the list. */
  alarm: (item: UploadItem) => void;
  dismissed: (item: UploadItem) => void;
};

export function createUploadStore(ports: UploadPorts, news: Partial<UploadNews> = {}) {
  const store = createStore<UploadQueue>(() => noUploads);
  let speeds: Speeds = {};
  let lastKey = 0;
  const running = new Map<number, AbortController>();
  const services = new Map<string | undefined, Learnt["service"]>();

  const dispatch = (action: UploadAction) => store.setState(uploadReducer(store.getState(), action), true);
  const change = (key: number, facts: Partial<Omit<UploadItem, "key" | "file">>) => dispatch({ type: "changed", key, change: facts });
  const find = (key: number) => store.getState().items.find((item) => item.key === key);
  const keysOf = (wanted: (item: UploadItem) => boolean) =>
    new Set(
      store
        .getState()
        .items.filter(wanted)
        .map(({ key }) => key),
    );

  function pump() {
    for (let item = nextToStart(store.getState()); item; item = nextToStart(store.getState())) void start(item);
  }

  function learntOf(connection: string | undefined): Learnt {
    const service = services.get(connection) ?? {};
    services.set(connection, service);
    return { service, speeds: () => speeds, measured: (what, sample) => (speeds = withSample(speeds, what, sample)) };
  }

  async function start(item: UploadItem) {
    const mine = new AbortController();
    const { key } = item;
    running.set(key, mine);
    const isMine = () => running.get(key) === mine;
    const report = {
      status: (status: UploadStatus) => isMine() && change(key, { status }),
      // A partial hash is worth keeping after the pause too, unless the file has started again.
      know: (facts: Partial<UploadItem>) => (isMine() || !running.has(key)) && change(key, facts),
    };
    change(key, { status: { kind: "asking" } });
    const carrying = {
      ports,
      learnt: learntOf(item.connection),
      report,
      isBehind: (hash: string) => isBehind({ ...item, hash }, store.getState().items),
      signal: mine.signal,
    };
    const status = await carry(item, carrying).catch(broken);
    if (!isMine()) return;
    const during = find(key)?.status.kind;
    running.delete(key);
    change(key, { status });
    if (status.kind === "failed" && meetsOthers(status.failure, during)) hold(({ status: other }) => other.kind === "waiting");
    if (status.kind === "done") {
      news.stored?.(status.asset.id);
      const ended = find(key);
      if (ended && isAlarm(ended)) news.alarm?.(ended);
      void judge(key);
      void describeStored(key, item.about);
    }
    pump();
  }

  /** Files are stored whatever they are; but a picture that cannot be read is marked. */
  async function judge(key: number): Promise<void> {
    const item = find(key);
    if (item && (await ports.canBeRead(item.file)) === false) change(key, { isNoPicture: true });
  }

  /** `carried`: the description sent with the file, which may have changed meanwhile. */
  function describeStored(key: number, carried: About): Promise<void> {
    const item = find(key);
    if (item?.status.kind !== "done") return Promise.resolve();
    const { asset, sentBytes } = item.status;
    // An asset made from a hash got no preview.
    if (asset.created_new !== false) return write(key, sentBytes > 0 ? carried : { ...carried, previewId: undefined }, item.act);
    // An existing asset keeps its description, and gets this file's description in addition.
    const before = { name: asset.name ?? "", tags: asset.tags ?? carried.tags, metadata: asset.user_metadata ?? {} };
    change(key, { about: { ...mergeAbout(before, item.about), name: item.about.name } });
    return write(key, before, item.act);
  }

  /** Writes the parts of the description that the stored asset lacks. */
  async function write(key: number, before: About, act: string | undefined): Promise<void> {
    const item = find(key);
    if (item?.status.kind !== "done") return;
    const { connection, about } = item;
    const changes = changesBetween(before, about);
    if (!changes) return;
    change(key, { changing: "now" });
    const asking = { connection, act, signal: new AbortController().signal, onHold: () => undefined };
    const result = await ports.change(item.status.asset.id, changes, asking);
    const standing = result.ok ? undefined : writtenBut(result.failure.parts, before, about);
    change(key, { changing: result.ok ? undefined : result.failure, standing });
    if (result.ok) news.stored?.(item.status.asset.id);
    const now = find(key);
    if (result.ok && typeof changes.fields.name === "string" && now?.status.kind === "done") {
      change(key, { status: { ...now.status, asset: { ...now.status.asset, name: changes.fields.name } } });
    }
  }

  function stop(key: number) {
    const connection = running.get(key);
    running.delete(key);
    connection?.abort();
  }

  function pause(key: number) {
    const item = find(key);
    if (!item || (item.status.kind !== "waiting" && !isUnderWay(item)) || item.status.kind === "checking") return;
    const lost = item.status.kind === "sending";
    stop(key);
    // Its last bytes may have been sent: the service is asked before they are sent again.
    change(key, { status: { kind: "paused", lost }, ...(lost && { mayBeThere: true }) });
  }

  /** Starts nothing until it is released; a file started by hand runs anyway. */
  function hold(wanted: (item: UploadItem) => boolean) {
    const keys = keysOf(wanted);
    if (keys.size === 0) return;
    dispatch({ type: "paused", isPaused: true });
    for (const key of keys) pause(key);
  }
  const release = () => dispatch({ type: "paused", isPaused: false });

  function wait(key: number) {
    const item = find(key);
    if (item?.status.kind !== "paused" && item?.status.kind !== "failed") return;
    // An id that the service rejected is not used again.
    const isIdSpent = item.status.kind === "failed" && item.status.failure.code === "ASSET_ID_UNAVAILABLE";
    change(key, { status: { kind: "waiting" }, ...(isIdSpent && { id: newUuid(), mayBeThere: false }) });
  }

  return {
    get: store.getState,
    speeds: () => speeds,
    subscribe: store.subscribe,
    /** `takesNoId`: it is known that the service accepts no ids, so none is sent. */
    add(uploads: readonly NewUpload[], connection?: string, takesNoId = false) {
      if (!store.getState().items.some(isUnfinished)) release();
      if (takesNoId) learntOf(connection).service.takesNoId = true;
      const act = newUuid();
      const items = uploads.map((upload): UploadItem => ({
        ...upload,
        key: ++lastKey,
        id: newUuid(),
        connection,
        act,
        mayBeThere: false,
        status: { kind: "waiting" },
      }));
      dispatch({ type: "added", items });
      pump();
    },
    pause(key: number) {
      pause(key);
      pump();
    },
    /** Also for failed files, and for descriptions that could not be written. */
    again(key: number) {
      const standing = find(key)?.standing;
      if (standing) void write(key, standing, newUuid());
      release();
      wait(key);
      pump();
    },
    pauseAll: () => hold(isUnfinished),
    resumeAll() {
      release();
      for (const key of keysOf(({ status }) => status.kind === "paused")) wait(key);
      pump();
    },
    retryAll() {
      release();
      for (const key of keysOf(({ status }) => status.kind === "failed")) wait(key);
      pump();
    },
    /** Aborts its request, if there is one. */
    remove(key: number) {
      const gone = find(key);
      if (gone && isAlarm(gone)) news.dismissed?.(gone);
      stop(key);
      dispatch({ type: "removed", keys: new Set([key]) });
      pump();
    },
    cancelAll() {
      const keys = keysOf(isUnfinished);
      keys.forEach(stop);
      dispatch({ type: "removed", keys });
      release();
    },
    clear: () => dispatch({ type: "cleared" }),
    /** Alarms stay: each is dismissed separately. */
    dropFailed: () => dispatch({ type: "removed", keys: keysOf(({ status }) => status.kind === "failed") }),
    /** For waiting files the description is sent along; for files stored or being sent it is written afterwards. */
    describe(keys: ReadonlySet<number>, about: (item: UploadItem) => About) {
      const act = newUuid();
      for (const key of keys) {
        const item = find(key);
        if (!item) continue;
        change(key, { about: about(item) });
        void write(key, item.standing ?? item.about, act);
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
