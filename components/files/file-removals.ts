// Deletes user files, outside the page: it continues, with its outcome, while the person visits another folder.
// Guarantees: one job at a time; a folder's files are those in it when its deletion begins; every file is reported as deleted,
// refused with its reason, or untouched; after a stop, the running calls are finished. A rate limit is waited out.
// Must never: start on the server; only handlers call it.

import { createStore } from "zustand/vanilla";
import { meetsAll, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { fromTop } from "@/lib/contract/assets/file-refs";
import { lacksOperation } from "@/lib/contract/failure";
import { type UserdataFile } from "@/lib/contract/operations/files";
import { type Result } from "@/lib/shared/result";
import { newUuid } from "@/lib/shared/text";

export type RefusedFile = { path: string; failure: ApiFailure };
export type FileRemoval = { removed: number; failed: readonly RefusedFile[]; left: readonly string[] };
export type RemovalState =
  | { kind: "idle" }
  | { kind: "removing"; chosen: readonly string[]; done: number; count: number; isStopping: boolean; isWaiting: boolean }
  /** `isAbsent`: this service does not delete files. */
  | { kind: "over"; removal: FileRemoval; isAbsent: boolean }
  /** The folder could not be read, so nothing was deleted. */
  | { kind: "unread"; failure: ApiFailure };

export type RemovalPorts = {
  list: (folder: string, connection: string | undefined) => Promise<Result<UserdataFile[], ApiFailure>>;
  remove: (path: string, work: Work) => Promise<Result<unknown, ApiFailure>>;
};
export type FileRemovals = ReturnType<typeof createFileRemovals>;

const AT_ONCE = 4;

export function createFileRemovals(ports: RemovalPorts) {
  const store = createStore<RemovalState>(() => ({ kind: "idle" }));
  let stopping = new AbortController();
  let before: Promise<void> = Promise.resolve();

  const become = (next: RemovalState) => store.setState(next, true);
  function change(what: Partial<Extract<RemovalState, { kind: "removing" }>>): void {
    const state = store.getState();
    if (state.kind === "removing") become({ ...state, ...what });
  }

  async function run(chosen: readonly string[], connection: string | undefined, isLeaving: boolean): Promise<void> {
    stopping = new AbortController();
    const { signal } = stopping;
    become({ kind: "removing", chosen, done: 0, count: chosen.length, isStopping: false, isWaiting: false });
    const named = await filesOf(chosen, connection);
    if ("failure" in named) return become({ kind: "unread", failure: named.failure });
    const waiting = [...named.paths];
    const outcome = { removed: 0, failed: [] as RefusedFile[] };
    const onWait = (ms: number | undefined) => change({ isWaiting: ms !== undefined });
    const work: Work = { connection, act: newUuid(), signal, onDone: () => undefined, onWait, isLeaving };
    let isOver = false;
    change({ count: waiting.length });
    async function lane(): Promise<void> {
      while (!isOver && !signal.aborted) {
        const path = waiting.shift();
        if (path === undefined) return;
        const result = await ports.remove(path, work);
        if (result.ok) outcome.removed += 1;
        else {
          outcome.failed.push({ path, failure: result.failure });
          // The same failure would meet every other file too: no network, no session, no such operation.
          isOver ||= meetsAll(result.failure) || lacksOperation(result.failure);
        }
        change({ done: outcome.removed + outcome.failed.length });
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    const lacksIt = outcome.failed.some(({ failure }) => lacksOperation(failure));
    become({ kind: "over", removal: { ...outcome, left: waiting }, isAbsent: lacksIt });
  }

  async function filesOf(
    chosen: readonly string[],
    connection: string | undefined,
  ): Promise<{ paths: string[] } | { failure: ApiFailure }> {
    const paths = new Set(chosen.filter((path) => !path.endsWith("/")));
    for (const folder of chosen.filter((path) => path.endsWith("/"))) {
      const listed = await ports.list(folder, connection);
      if (!listed.ok) return { failure: listed.failure };
      for (const { path } of fromTop(listed.value, folder)) paths.add(path);
    }
    return { paths: [...paths] };
  }

  return {
    get: store.getState,
    subscribe: store.subscribe,
    /** Paths that end with a slash are folders. */
    remove(chosen: readonly string[], connection: string | undefined, isLeaving = false): Promise<void> {
      before = before.then(() => run(chosen, connection, isLeaving));
      return before;
    },
    stop(): void {
      stopping.abort();
      change({ isStopping: true });
    },
    dismiss(): void {
      if (store.getState().kind !== "removing") become({ kind: "idle" });
    },
  };
}
