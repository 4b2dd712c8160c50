"use client";

import { useMemo, useSyncExternalStore } from "react";
import { openFile, openWorkflow } from "./open-workflow";
import { type Refusal } from "./refusal";
import { type RunPorts } from "./run-ports";
import { emptyRun, type OpenedFile } from "./run-state";
import { type RunStore } from "./run-store";
import { judge, toSubmission } from "./submission";
import { type Result } from "@/lib/shared/result";

/** Everything the page can do, tied to what it holds. */
export function useRun(store: RunStore, ports: RunPorts) {
  const state = useSyncExternalStore(store.subscribe, store.get, () => emptyRun);
  const acts = useMemo(() => actsOf(store, ports), [store, ports]);
  return { state, ...acts };
}

function actsOf(store: RunStore, ports: RunPorts) {
  const settle = (result: Result<OpenedFile, Refusal>) => {
    store.dispatch(result.ok ? { type: "opened", file: result.value } : { type: "refused", refusal: result.failure });
  };
  return {
    dispatch: store.dispatch,
    async openFiles(files: readonly File[]) {
      const [file] = files;
      if (!file) return;
      if (files.length > 1) store.dispatch({ type: "refused", refusal: { reason: { code: "several_files", count: files.length } } });
      else settle(await openFile(file));
    },
    openText: (text: string) => settle(openWorkflow(text)),
    async openSample(name: string) {
      const sample = await ports.loadSample(name);
      if (sample.ok) settle(openWorkflow(sample.value, `${name}.json`));
      else store.dispatch({ type: "refused", refusal: { fileName: `${name}.json`, reason: { code: "sample_missing" } } });
    },
    /** Sends what is open, once: a second press while the first is on its way is nothing. */
    async run(fallbackName: string) {
      const { opened, isSending, uploading } = store.get();
      if (!opened || isSending || uploading.length > 0) return;
      store.dispatch({ type: "sending" });
      const result = await ports.sendPrompt(toSubmission({ ...opened, name: opened.name || fallbackName }));
      store.dispatch({ type: "answered", serial: opened.serial, outcome: judge(result, opened.graph), atMs: Date.now() });
    },
  };
}
