// The Run page's background work: restores drafts, opens the workflow in the URL, and accepts files and texts.

import { useEffect, useEffectEvent, useRef, useState } from "react";
import { takeRunRequest } from "@/components/frame/samples/samples";
import { warnBeforeLeaving } from "@/components/ui/hooks/page-events";
import { tabStorage } from "@/lib/browser/persisted";
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
    const request = takeRunRequest();
    if (!request) return;
    if ("files" in request) onFiles(request.files);
    else void (canRun ? run.runSample(request.sample) : run.openRunSource(request));
  });
  useEffect(() => openRunRequest(), []);
  useNotedAttempt(store, memberId, (attempt) => void run.lookUpOutcome(attempt));
  // Looks up interrupted work once the page has hydrated.
  const recall = useEffectEvent(() => {
    run.recall();
    void run.copies.recall();
  });
  useEffect(() => recall(), []);
  useTopOnOpening(openWorkflow?.serial);
  const isReadElsewhere =
    openWorkflow?.readFor !== undefined && connection !== undefined && openWorkflow.readFor !== connection && !openWorkflow.isEdited;
  const reread = useEffectEvent(() => void run.reread());
  useEffect(() => {
    if (isReadElsewhere) reread();
  }, [isReadElsewhere, connection]);
  return useDroppedFiles({ onFiles, onText: (text) => void run.openText(text) });
}

/** Scrolls to the top when another workflow is opened. A workflow that was already open keeps its scroll position. */
function useTopOnOpening(serial: number | undefined): void {
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

    let last = store.get().openWorkflow;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = undefined;
      saveDraft();
    };
    const onLeave = (event: BeforeUnloadEvent) => {
      flush();
      if (isUnsent(store.get().openWorkflow) && !saveDraft()) warnBeforeLeaving(event);
    };
    // Registered only while needed, since it excludes the page from the back/forward cache.
    const updateUnloadGuard = () => {
      window.removeEventListener("beforeunload", onLeave);
      if (isUnsent(last)) window.addEventListener("beforeunload", onLeave);
    };
    const follow = () => {
      const { openWorkflow } = store.get();
      if (openWorkflow === last) return;
      last = openWorkflow;
      clearTimeout(timer);
      timer = openWorkflow ? setTimeout(flush, DEBOUNCE_MS) : undefined;
      if (!openWorkflow) deleteDraft(tabStorage);
      updateUnloadGuard();
    };
    updateUnloadGuard();
    const unsubscribe = store.subscribe(follow);
    window.addEventListener("pagehide", flush);
    return () => {
      flush();
      unsubscribe();
      window.removeEventListener("pagehide", flush);
      window.removeEventListener("beforeunload", onLeave);
    };
  }, [store, memberId]);
}

/** After a reload during a run: looks up the outcome without resending. */
function useNotedAttempt(store: RunStore, memberId: string, onFound: (attempt: Attempt) => void): void {
  const reportFound = useEffectEvent(onFound);
  useEffect(() => {
    const attempt = readStoredAttempt(tabStorage, memberId);
    const { isSending, submitError } = store.get();
    if (attempt && !isSending && submitError?.attempt?.key !== attempt.key) reportFound(attempt);
  }, [store, memberId]);
}

const names = ["job", "file", "carrier", "sample", "app", "asset", "assets", "without"] as const;

/** Opens the URL's workflow once. The URL becomes /run, so that a reload restores the draft instead. */
function useRunSource(source: RunSource | undefined, open: (source: RunSource) => void): void {
  const openFromUrl = useEffectEvent(() => {
    const search = new URLSearchParams(window.location.search);
    if (!source || !names.some((name) => search.has(name))) return;
    for (const name of names) search.delete(name);
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
  const [isOver, setOver] = useState(false);
  const takeFiles = useEffectEvent(onFiles);
  const takeText = useEffectEvent(onText);
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
      setOver(true);
    });
    addListener("dragleave", (event) => {
      if (event.relatedTarget === null) setOver(false);
    });
    addListener("drop", (event) => {
      setOver(false);
      if (!hasFiles(event) || event.defaultPrevented) return;
      event.preventDefault();
      takeFiles([...(event.dataTransfer?.files ?? [])]);
    });
    addListener("paste", (event) => {
      if (event.defaultPrevented || isField(event.target) || !event.clipboardData) return;
      const files = [...event.clipboardData.files];
      const text = event.clipboardData.getData("text/plain");
      if (files.length > 0) takeFiles(files);
      else if (text.trim() !== "") takeText(text);
    });
    return () => controller.abort();
  }, []);
  return isOver;
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}
