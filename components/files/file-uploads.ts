// Uploads into the user data, outside the page: they continue while the person visits another folder.
// Guarantees: three at a time; no existing file is replaced unless confirmed, for one file or for the rest of its batch.
// Must never: start on the server; only handlers call it.

import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent } from "react";
import { createStore } from "zustand/vanilla";
import { showToast } from "@/components/ui/toast-store";
import { patiently } from "@/lib/browser/bulk/bulk-calls";
import { type Dropped } from "@/lib/browser/files/dropped-files";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { upload } from "@/lib/browser/uploads/upload";
import { coalesce } from "@/lib/shared/async";
import { type Result } from "@/lib/shared/result";
import { newUuid } from "@/lib/shared/text";
import { fileApiPath, within } from "./files-view";

export type FileUpload = {
  key: number;
  path: string;
  bytes: number;
  connection: string | undefined;
  /** Files that were added together: one answer can apply to all of them. */
  batch: number;
  /** `asked`: a file of this name exists, and the person must choose. `stopped`: it is unknown how much was sent. */
  state: "waiting" | "sending" | "asked" | "stored" | "kept" | "failed" | "stopped";
  /** The share of bytes sent, from 0 to 1. */
  share?: number;
  failure?: ApiFailure;
};
export type Answer = "replace" | "keep";
export type SendFile = (
  upload: { path: string; file: File; connection: string | undefined; act: string },
  options: { overwrite: boolean; signal: AbortSignal; onProgress: (share: number) => void },
) => Promise<Result<unknown, ApiFailure>>;

const AT_ONCE = 3;
type QueuedFile = FileUpload & { file: File; act: string; overwrite: boolean; stop: AbortController };

export const isUnderWay = ({ state }: FileUpload) => state === "waiting" || state === "sending" || state === "asked";
/** Files that a person may want to send again. */
export const isLeft = ({ state }: FileUpload) => state === "failed" || state === "stopped";

export type FileUploads = ReturnType<typeof createFileUploads>;

export function createFileUploads(send: SendFile, onStored: (upload: FileUpload) => void = () => undefined) {
  const store = createStore<readonly QueuedFile[]>(() => []);
  let lastKey = 0;
  let lastBatch = 0;
  /** Answers given for a whole batch. */
  const forAll = new Map<number, Answer>();

  function become(next: readonly QueuedFile[]): void {
    store.setState(next, true);
  }
  function change(key: number, what: Partial<QueuedFile>): void {
    become(store.getState().map((one) => (one.key === key ? { ...one, ...what } : one)));
  }
  function answered(one: QueuedFile, answer: Answer): Partial<QueuedFile> {
    return answer === "keep" ? { state: "kept" } : { state: "waiting", overwrite: true };
  }

  async function run(one: QueuedFile): Promise<void> {
    change(one.key, { state: "sending", share: undefined, failure: undefined });
    const { overwrite, stop } = one;
    const onProgress = (share: number) => change(one.key, { share });
    const result = await send(one, { overwrite, signal: stop.signal, onProgress });
    const now = store.getState().find(({ key }) => key === one.key);
    if (!now) return;
    if (now.stop !== stop || (now.state === "stopped" && !result.ok)) return;
    const isThere = !result.ok && result.failure.status === 409 && !overwrite;
    const chosen = forAll.get(one.batch);
    if (result.ok) {
      change(one.key, { state: "stored" });
      onStored(one);
    } else if (isThere) change(one.key, chosen ? answered(one, chosen) : { state: "asked" });
    else change(one.key, { state: "failed", failure: result.failure });
    pump();
  }

  function pump(): void {
    const sending = store.getState().filter(({ state }) => state === "sending").length;
    for (const one of store
      .getState()
      .filter(({ state }) => state === "waiting")
      .slice(0, Math.max(0, AT_ONCE - sending)))
      void run(one);
  }

  return {
    get: (): readonly FileUpload[] => store.getState(),
    subscribe: store.subscribe,
    add(files: readonly { path: string; file: File }[], connection: string | undefined): void {
      lastBatch += 1;
      const act = newUuid();
      const added = files.map(({ path, file }): QueuedFile => {
        const bytes = file.size;
        return {
          key: ++lastKey,
          path,
          file,
          act,
          bytes,
          connection,
          state: "waiting",
          overwrite: false,
          batch: lastBatch,
          stop: new AbortController(),
        };
      });
      become([...store.getState(), ...added]);
      pump();
    },
    answer(key: number, answer: Answer, isForAll: boolean): void {
      const asked = store.getState().find((one) => one.key === key);
      if (!asked) return;
      if (isForAll) forAll.set(asked.batch, answer);
      const isMeant = (one: QueuedFile) => one.state === "asked" && (one.key === key || (isForAll && one.batch === asked.batch));
      become(store.getState().map((one) => (isMeant(one) ? { ...one, ...answered(one, answer) } : one)));
      pump();
    },
    again(key: number): void {
      change(key, { state: "waiting", stop: new AbortController() });
      pump();
    },
    allAgain(): void {
      become(
        store.getState().map((one) => (isLeft(one) ? { ...one, state: "waiting", failure: undefined, stop: new AbortController() } : one)),
      );
      pump();
    },
    /** Unfinished files stay in the list, to be sent again or cleared. */
    stopAll(): void {
      const ended = store.getState().filter(isUnderWay);
      become(store.getState().map((one) => (isUnderWay(one) ? { ...one, state: "stopped" } : one)));
      for (const { stop } of ended) stop.abort();
    },
    remove(key: number): void {
      const gone = store.getState().find((one) => one.key === key);
      become(store.getState().filter((one) => one.key !== key));
      gone?.stop.abort();
      pump();
    },
    /** Removes finished files from the list; those being sent or asked about stay. */
    clear: () => become(store.getState().filter(isUnderWay)),
  };
}

const sendFile: SendFile = ({ path, file, connection, act }, { overwrite, signal, onProgress }) =>
  patiently(
    () => upload(fileApiPath(path, { connection, overwrite, full_info: true }), { bytes: file, onProgress, signal, act }),
    // A folder of many files meets a rate limit that one file never does.
    { signal, onWait: () => undefined },
  );

let uploads: FileUploads | undefined;
const whenStored = new Set<(upload: FileUpload) => void>();

/** The uploads of this tab: created when a page first asks for them, and kept across pages. */
function tabFileUploads(): FileUploads {
  uploads ??= createFileUploads(sendFile, (upload) => {
    for (const tell of whenStored) tell(upload);
  });
  return uploads;
}

function onFileStored(tell: (upload: FileUpload) => void): () => void {
  whenStored.add(tell);
  return () => whenStored.delete(tell);
}

type Choices = { connection: string | undefined; refresh: () => Promise<unknown> };

/** Takes files for upload, reports skipped ones, and refreshes the list while they are stored. */
export function useFileIntake({ connection, refresh }: Choices) {
  const t = useTranslations("files.upload");
  const uploads = tabFileUploads();
  const onStored = useEffectEvent(() => refresh());
  // Otherwise three hundred files would refresh the list three hundred times.
  useEffect(() => {
    const again = coalesce(() => onStored());
    return onFileStored(() => void again());
  }, []);
  function addTo(dir: string, { files, unreadable, leftOut, isCut }: Dropped) {
    uploads.add(
      files.map(({ path, file }) => ({ path: within(dir, path), file })),
      connection,
    );
    if (files.length + unreadable + leftOut === 0) showToast({ tone: "wait", text: t("nothing") });
    if (leftOut > 0) showToast({ tone: "wait", text: t("leftOut", { count: leftOut }) });
    if (unreadable > 0) showToast({ tone: "bad", text: t("unreadable", { count: unreadable }) });
    if (isCut) showToast({ tone: "bad", text: t("cut", { count: files.length }) });
  }
  return { uploads, addTo };
}
