// The uploads of this tab, outside the page: a look at a job and back finds them where they are.
// Guarantees: each file is sent once unless somebody asks again; taking a file away ends its connection.
// Must never: start on the server; only handlers call it.

import { type ApiFailure } from "@/lib/browser/read-failure";
import { type Result } from "@/lib/shared/result";
import { nextToSend, type UploadAction, type UploadItem, uploadReducer } from "./upload-state";

export type UploadedAsset = { id: string; created_new?: boolean };
export type SendAsset = (
  item: { file: File; connection?: string },
  options: { onProgress: (share: number) => void; signal: AbortSignal },
) => Promise<Result<UploadedAsset, ApiFailure>>;

export type UploadStore = {
  get: () => readonly UploadItem[];
  subscribe: (listener: () => void) => () => void;
  add: (files: readonly File[], connection?: string) => void;
  again: (key: number) => void;
  remove: (key: number) => void;
  clear: () => void;
};

export function createUploadStore(send: SendAsset): UploadStore {
  let items: readonly UploadItem[] = [];
  let lastKey = 0;
  const running = new Map<number, AbortController>();
  const listeners = new Set<() => void>();

  function dispatch(action: UploadAction) {
    items = uploadReducer(items, action);
    for (const notify of listeners) notify();
  }

  function pump() {
    for (let item = nextToSend(items); item; item = nextToSend(items)) void carry(item);
  }

  async function carry({ key, file, connection }: UploadItem) {
    const mine = new AbortController();
    running.set(key, mine);
    dispatch({ type: "status", key, status: { kind: "sending", share: 0 } });
    const onProgress = (share: number) => {
      if (running.get(key) === mine) dispatch({ type: "status", key, status: { kind: "sending", share } });
    };
    const result = await send({ file, connection }, { onProgress, signal: mine.signal });
    if (running.get(key) !== mine) return;
    running.delete(key);
    const status = result.ok
      ? { kind: "done" as const, assetId: result.value.id, isNew: result.value.created_new !== false }
      : { kind: "failed" as const, failure: result.failure };
    dispatch({ type: "status", key, status });
    pump();
  }

  return {
    get: () => items,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    add(files, connection) {
      const added = files.map((file) => ({ key: ++lastKey, file, connection, status: { kind: "waiting" as const } }));
      dispatch({ type: "added", items: added });
      pump();
    },
    again(key) {
      dispatch({ type: "status", key, status: { kind: "waiting" } });
      pump();
    },
    remove(key) {
      const connection = running.get(key);
      running.delete(key);
      connection?.abort();
      dispatch({ type: "removed", key });
      pump();
    },
    clear: () => dispatch({ type: "cleared" }),
  };
}
