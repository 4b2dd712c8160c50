// The Run page's background work: restores drafts, opens the workflow in the URL, and accepts files and texts.

import { useEffect, useEffectEvent, useRef, useState } from "react";
import { consumeRunRequest } from "@/components/frame/samples/samples";
import { warnBeforeLeaving } from "@/components/ui/hooks/page-events";
import { tabStorage } from "@/lib/browser/persisted-value";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type Run } from "./run-actions";
import { type RunStore } from "./run-store";
import { type Attempt, readStoredAttempt } from "./submit/attempt";
import { isUnsent } from "./workflow/opened-workflow";
import { type RunSource } from "./workflow/run-sources";
import { deleteDraft, readDraft, storeDraft } from "./workflow/workflow-memory";

type RunPage = {
  run: Run;
  store: RunStore;
  memberId: string;
  connection: string | undefined;
  source: RunSource | undefined;
  canRun: boolean;
  onFiles: (files: readonly File[]) => void;
};

/** Returns whether files are being dragged over the page. */
export function useRunPage({ run, store, memberId, connection, source, canRun, onFiles }: RunPage): boolean {
  const { openWorkflow } = run.state;
  useDraft(store, memberId);
  useRunSource(source, (newSource) => void run.openRunSource(newSource));
  const openRunRequest = useEffectEvent(() => {
    const request = consumeRunRequest();
    if (!request) return;
    if ("files" in request) onFiles(request.files);
    else void (canRun ? run.runSample(request.sample) : run.openRunSource(request));
  });
  useEffect(() => openRunRequest(), []);
  useStoredAttempt(store, memberId, (attempt) => void run.lookUpOutcome(attempt));
  // Looks up interrupted work once the page has hydrated.
  const restoreInterruptedWork = useEffectEvent(() => {
    run.restoreJobs();
    void run.copies.restore();
  });
  useEffect(() => restoreInterruptedWork(), []);
  useScrollToTopOnOpen(openWorkflow?.serial);
  // Reopening would discard unsent edits.
  const isUnchanged = !openWorkflow?.isEdited && !openWorkflow?.advanced;
  const isReadForOtherConnection =
    openWorkflow?.readFor !== undefined && connection !== undefined && openWorkflow.readFor !== connection && isUnchanged;
  const reopenDrawing = useEffectEvent(() => void run.reopenDrawing());
  useEffect(() => {
    if (isReadForOtherConnection) reopenDrawing();
  }, [isReadForOtherConnection, connection]);
  return useDroppedFiles({ onFiles, onText: (text) => void run.openText(text) });
}

/** Scrolls to the top when another workflow is opened. A workflow that was already open keeps its scroll position. */
function useScrollToTopOnOpen(serial: number | undefined): void {
  const seenSerial = useRef(serial);
  useEffect(() => {
    if (seenSerial.current === serial) return;
    seenSerial.current = serial;
    if (serial !== undefined && document.scrollingElement) document.scrollingElement.scrollTop = 0;
  }, [serial]);
}

const DEBOUNCE_MS = 500;

/** Restores the open workflow and typed values after a reload. If they are too large to store, the browser warns before leaving. */
export function useDraft(store: RunStore, memberId: string): void {
  const saveDraft = useEffectEvent((): boolean => {
    const { openWorkflow } = store.get();
    return openWorkflow !== undefined && storeDraft(tabStorage, memberId, openWorkflow);
  });
  useEffect(() => {
    // After hydration, as the server rendered the page without a draft.
    const draft = store.get().openWorkflow ? undefined : readDraft(tabStorage, memberId);
    if (draft) store.restore(draft);

    let lastWorkflow = store.get().openWorkflow;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = undefined;
      saveDraft();
    };
    const handleBeforeUnload = (event: BeforeUnloadEvent) => {
      flush();
      if (isUnsent(store.get().openWorkflow) && !saveDraft()) warnBeforeLeaving(event);
    };
    // Registered only while needed, since it excludes the page from the back/forward cache.
    const updateUnloadGuard = () => {
      window.removeEventListener("beforeunload", handleBeforeUnload);
      if (isUnsent(lastWorkflow)) window.addEventListener("beforeunload", handleBeforeUnload);
    };
    const handleChange = () => {
      const { openWorkflow } = store.get();
      if (openWorkflow === lastWorkflow) return;
      lastWorkflow = openWorkflow;
      clearTimeout(timer);
      timer = openWorkflow ? setTimeout(flush, DEBOUNCE_MS) : undefined;
      if (!openWorkflow) deleteDraft(tabStorage);
      updateUnloadGuard();
    };
    updateUnloadGuard();
    const unsubscribe = store.subscribe(handleChange);
    window.addEventListener("pagehide", flush);
    return () => {
      flush();
      unsubscribe();
      window.removeEventListener("pagehide", flush);
      window.removeEventListener("beforeunload", handleBeforeUnload);
    };
  }, [store, memberId]);
}

/** After a reload during a run: looks up the outcome without resending. */
function useStoredAttempt(store: RunStore, memberId: string, onFound: (attempt: Attempt) => void): void {
  const reportFound = useEffectEvent(onFound);
  useEffect(() => {
    const attempt = readStoredAttempt(tabStorage, memberId);
    const { isSending, submitError } = store.get();
    if (attempt && !isSending && submitError?.attempt?.key !== attempt.key) reportFound(attempt);
  }, [store, memberId]);
}

const sourceParams = ["job", "file", "carrier", "sample", "app", "asset", "assets", "without"] as const;

/** Opens the URL's workflow once. The URL becomes /run, so that a reload restores the draft instead. */
function useRunSource(source: RunSource | undefined, open: (source: RunSource) => void): void {
  const openFromUrl = useEffectEvent(() => {
    const search = new URLSearchParams(window.location.search);
    if (!source || !sourceParams.some((name) => search.has(name))) return;
    for (const name of sourceParams) search.delete(name);
    // Keeps the connection in the URL, since the workflow runs there.
    const { pathname, hash } = window.location;
    window.history.replaceState(null, "", `${pathname}${search.size === 0 ? "" : `?${search}`}${hash}`);
    open(source);
  });
  const key = writeExactJson(source);
  useEffect(() => openFromUrl(), [key]);
}

/** Accepts files dropped and texts pasted anywhere on the page, except in a focused field. True while files are dragged. */
function useDroppedFiles({ onFiles, onText }: { onFiles: (files: File[]) => void; onText: (text: string) => void }): boolean {
  const [isDragOver, setDragOver] = useState(false);
  const handleFiles = useEffectEvent(onFiles);
  const handleText = useEffectEvent(onText);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const addListener = <K extends keyof WindowEventMap>(type: K, listener: (event: WindowEventMap[K]) => void) =>
      window.addEventListener(type, listener, { signal });
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    addListener("dragover", (event) => {
      if (!hasFiles(event)) return;
      // Without this the browser would leave the page and show the file.
      event.preventDefault();
      setDragOver(true);
    });
    addListener("dragleave", (event) => {
      if (event.relatedTarget === null) setDragOver(false);
    });
    addListener("drop", (event) => {
      setDragOver(false);
      if (!hasFiles(event) || event.defaultPrevented) return;
      event.preventDefault();
      handleFiles([...(event.dataTransfer?.files ?? [])]);
    });
    addListener("paste", (event) => {
      if (event.defaultPrevented || isField(event.target) || !event.clipboardData) return;
      const files = [...event.clipboardData.files];
      const text = event.clipboardData.getData("text/plain");
      if (files.length > 0) handleFiles(files);
      else if (text.trim() !== "") handleText(text);
    });
    return () => controller.abort();
  }, []);
  return isDragOver;
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}
