import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useMemo, useSyncExternalStore } from "react";
import { createStore } from "zustand/vanilla";
import { WorkLine, WorkLines } from "@/components/data-table/bulk/work-line";
import { failureText } from "@/components/frame/failure/fault-owner";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { FileName } from "@/components/ui/cut";
import { usePendingUndo } from "@/components/ui/hooks/use-pending-undo";
import { ReceiptLine } from "@/components/ui/receipt-line";
import { ProgressBar } from "@/components/ui/skeleton";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { callPatiently, meetsAll, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { fromTop } from "@/lib/contract/assets/file-refs";
import { lacksOperation } from "@/lib/contract/failure";
import { type UserdataFile } from "@/lib/contract/operations/files";
import { type Result } from "@/lib/shared/result";
import { newUuid } from "@/lib/shared/text";
import { fileApiPath, listApiPath } from "./files-view";

let removals: FileRemovals | undefined;

/** The removals of this tab: created when a page first asks for them, and kept across pages. */
function tabFileRemovals(): FileRemovals {
  removals ??= createFileRemovals({
    list: (folder, connection) => callApi<UserdataFile[]>(listApiPath(folder, connection ?? ""), { cache: "no-store" }),
    remove: (path, work) => callPatiently(fileApiPath(path, { connection: work.connection }), { method: "DELETE" }, work),
  });
  return removals;
}

type Choices = { connection: string | undefined; refresh: () => Promise<unknown> };

const idle: RemovalState = { kind: "idle" };

/** Deletions can be undone for a moment; after that the tab carries them out, and any page can follow them. */
export function useFileRemoval({ connection, refresh }: Choices) {
  const removals = tabFileRemovals();
  const state = useSyncExternalStore(removals.subscribe, removals.get, () => idle);
  const t = useTranslations("files.removal");
  const { acts, schedule, undo } = usePendingUndo<readonly string[]>(
    (paths, isLeaving) => void removals.remove(paths, connection, isLeaving),
  );
  const isOver = state.kind === "over";
  const ended = useEffectEvent(() => void refresh());
  useEffect(() => {
    if (isOver) ended();
  }, [isOver]);
  const busy = useMemo(
    () => new Set([...acts.flatMap(({ what }) => what), ...(state.kind === "removing" ? state.chosen : [])]),
    [acts, state],
  );
  return {
    state,
    pending: acts,
    /** Rows that are being deleted, or about to be. */
    busy,
    undo(key: number) {
      const taken = undo(key);
      if (taken) showToast({ tone: "off", text: t("back", { count: taken.what.length }) });
    },
    stop: removals.stop,
    dismiss: removals.dismiss,
    remove(paths: readonly string[]) {
      removals.dismiss();
      if (paths.length > 0) schedule(paths);
    },
    /** Retries refused and remaining files without the undo period, as the decision was made before. */
    again: (paths: readonly string[]) => void removals.remove(paths, connection),
  };
}

// Deletes user files independently of the open folder, one removal at a time. Every file is reported as deleted, refused with its reason, or
// untouched; rate limits are waited out. Only handlers may call it, never the server.

type RefusedFile = { path: string; failure: ApiFailure };
type FileRemoval = { removed: number; failed: readonly RefusedFile[]; left: readonly string[] };
export type RemovalState =
  | { kind: "idle" }
  | { kind: "removing"; chosen: readonly string[]; done: number; count: number; isStopping: boolean; isWaiting: boolean }
  /** `isAbsent`: this service does not delete files. */
  | { kind: "over"; removal: FileRemoval; isAbsent: boolean }
  /** The folder could not be read, so nothing was deleted. */
  | { kind: "unread"; failure: ApiFailure };

type RemovalPorts = {
  list: (folder: string, connection: string | undefined) => Promise<Result<UserdataFile[], ApiFailure>>;
  remove: (path: string, work: Work) => Promise<Result<unknown, ApiFailure>>;
};
type FileRemovals = ReturnType<typeof createFileRemovals>;

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

type Removal = ReturnType<typeof useFileRemoval>;

/** The tool bar scrolls sideways on narrow screens, which would hide the receipt: there it is shown above the bottom bar. */
const NARROW =
  "max-sm:fixed max-sm:right-2 max-sm:bottom-[72px] max-sm:left-2 max-sm:z-30 max-sm:flex max-sm:*:shrink max-sm:*:flex-wrap max-sm:*:border max-sm:*:border-line-strong max-sm:*:bg-surface max-sm:*:px-2.5 max-sm:*:py-1.5 max-sm:*:shadow-lg";

export function RemovalReceipt({ removal }: { removal: Removal }) {
  return (
    <div data-lower-edge="" className={cn("contents empty:hidden", NARROW)}>
      <Receipt removal={removal} />
    </div>
  );
}

/** The progress, then the outcome. */
function Receipt({ removal }: { removal: Removal }) {
  const t = useTranslations("files.removal");
  const { state, stop, dismiss, again } = removal;
  if (state.kind === "removing") {
    const { done, count, isStopping, isWaiting } = state;
    return (
      <ReceiptLine tone="run" text={t(isStopping ? "stopping" : isWaiting ? "waiting" : "progress", { done, count })}>
        <ProgressBar value={done / Math.max(1, count)} label={t("progress", { done, count })} className="w-16" />
        <Button size="small" onClick={stop} disabled={isStopping}>
          {t("stop")}
        </Button>
      </ReceiptLine>
    );
  }
  if (state.kind !== "over") return null;
  const { removed, failed, left } = state.removal;
  const rest = [...failed.map(({ path }) => path), ...left];
  if (rest.length === 0) return <ReceiptLine tone="ok" text={t("done", { count: removed })} onDismiss={dismiss} />;
  return (
    <ReceiptLine
      tone={failed.length > 0 ? "bad" : "off"}
      text={t("some", { removed, failed: failed.length, left: left.length })}
      onDismiss={dismiss}
    >
      {state.isAbsent ? null : (
        <Button size="small" onClick={() => again(rest)}>
          {t("again", { count: rest.length })}
        </Button>
      )}
    </ReceiptLine>
  );
}

/** Deletions that can still be undone, each separately. */
export function PendingRemovals({ removal: { pending, undo } }: { removal: Removal }) {
  const t = useTranslations("files.removal");
  const common = useTranslations("common");
  if (pending.length === 0) return null;
  return (
    <WorkLines label={t("label")}>
      {pending.map(({ key, what }) => (
        <WorkLine key={key} tone="wait" text={t("undoable", { count: what.length })}>
          <Button size="small" onClick={() => undo(key)}>
            {common("undo")}
          </Button>
        </WorkLine>
      ))}
    </WorkLines>
  );
}

const SHOWN = 50;

/** Each refused file, with its reason. */
export function RefusedFiles({ removal: { state } }: { removal: Removal }) {
  const t = useTranslations("files.removal");
  const errors = useTranslations("errors");
  if (state.kind !== "over" || state.removal.failed.length === 0) return null;
  const { failed } = state.removal;
  return (
    <section aria-label={t("refused")} className="border-b border-line bg-surface px-4 py-2.5 md:px-5">
      <ul tabIndex={0} aria-label={t("refused")} className="max-h-40 overflow-y-auto">
        {failed.slice(0, SHOWN).map(({ path, failure }) => (
          <li key={path} className="flex min-h-7 flex-wrap items-center gap-x-3">
            <span title={path} className="min-w-0 truncate font-mono text-sm">
              <FileName name={path} />
            </span>
            <span className="text-bad">{failureText(errors, failure)}</span>
          </li>
        ))}
      </ul>
      {failed.length > SHOWN ? <p className="text-sm text-ink-3">{t("more", { count: failed.length - SHOWN })}</p> : null}
    </section>
  );
}
