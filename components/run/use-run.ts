"use client";

import { useMemo, useSyncExternalStore } from "react";
import { pictureSamples, type SampleName } from "@/components/frame/samples";
import { checkPicture } from "./check-picture";
import { toImageValue } from "./image-ref";
import { openFile, openWorkflow } from "./open-workflow";
import { type Arrival, bringAssets, openArrival } from "./arrivals";
import { copiesActs } from "./copies/copies-acts";
import { tabStorage } from "./tab-storage";
import { newPressKey } from "@/lib/browser/press-key";
import { forgetPress, notePress, type Press } from "./press";
import { askAfter, sendPress } from "./press-outcome";
import { onlyPlace, type Placed } from "./picture-inputs";
import { keepReceipts, keptReceipts } from "./receipts-note";
import { type Refusal } from "./refusal";
import { type RunPorts } from "./run-ports";
import { emptyRun, type OpenedFile } from "./run-state";
import { type RunStore } from "./run-store";
import { toSubmission } from "./submission";
import { type RunOutcome } from "./run-outcome";
import { type Graph } from "@/lib/contract/schemas/graph";
import { ok, type Result } from "@/lib/shared/result";

type Pressed = { memberId: string; connection?: string; isLocal?: boolean };

/** Everything the page can do, tied to what it holds. */
export function useRun(store: RunStore, ports: RunPorts, pressed: Pressed) {
  const state = useSyncExternalStore(store.subscribe, store.get, () => emptyRun);
  const { memberId, connection, isLocal = false } = pressed;
  const acts = useMemo(() => actsOf(store, ports, { memberId, connection, isLocal }), [store, ports, memberId, connection, isLocal]);
  return { state, ...acts };
}

function actsOf(store: RunStore, ports: RunPorts, { isLocal, ...pressed }: Pressed & { isLocal: boolean }) {
  const settle = (result: Result<OpenedFile, Refusal>) => {
    store.dispatch(result.ok ? { type: "opened", file: result.value } : { type: "refused", refusal: result.failure });
  };
  /** Chosen for the picture that waits: it goes in where there is one place for it (which is told), and is asked about otherwise. */
  const settleFor = (result: Result<OpenedFile, Refusal>, pictures = store.get().brought?.pictures): Placed | undefined => {
    settle(result);
    const { opened } = store.get();
    const place = result.ok && opened && pictures && onlyPlace(opened, pictures);
    if (!place) return undefined;
    const { input, picture } = place;
    store.dispatch({ type: "named", serial: opened.serial, value: picture.value, name: picture.name });
    store.dispatch({ type: "edited", serial: opened.serial, nodeId: input.nodeId, name: input.name, value: picture.value });
    store.dispatch({ type: "brought", brought: undefined });
    return place;
  };
  const answered = (serial: number, press: Press, outcome: RunOutcome) => {
    // An unknown press stays noted: a reload asks after it again.
    if (outcome.kind !== "unknown") forgetPress(tabStorage);
    store.dispatch({ type: "answered", serial, press, outcome, atMs: Date.now() });
    keepReceipts(tabStorage, pressed.memberId, store.get().receipts);
  };
  /** Sends what is open, once: a second press while the first is on its way is nothing. */
  async function run(fallbackName: string, filled: (graph: Graph) => Graph = (graph) => graph) {
    const { opened, isSending, uploading } = store.get();
    if (!opened || isSending || uploading.length > 0) return;
    store.dispatch({ type: "sending" });
    const name = opened.name || fallbackName;
    const press: Press = { ...pressed, key: newPressKey(), workflowId: opened.workflowId, name, atMs: Date.now() };
    notePress(tabStorage, press);
    const submission = toSubmission({ ...opened, name, graph: filled(opened.graph) });
    const outcome = await sendPress(ports, press, { submission, graph: opened.graph });
    answered(opened.serial, press, outcome);
  }
  async function openInSample(file: File): Promise<Placed | undefined> {
    store.dispatch({ type: "arriving", isArriving: true });
    const sent = await ports.sendPicture(file, { onProgress: () => undefined, signal: new AbortController().signal });
    if (!sent.ok) {
      store.dispatch({ type: "refused", refusal: { reason: { code: "unread", failure: sent.failure } } });
      return undefined;
    }
    // The sample's own picture is not wanted.
    const { shipsPictures: _ships, sendSamplePicture: _send, ...others } = ports;
    const picture = { id: "", value: toImageValue(sent.value), name: file.name };
    return settleFor(await openArrival({ sample: pictureSamples[0] }, others), [picture]);
  }
  return {
    dispatch: store.dispatch,
    copies: copiesActs(store, ports, {
      memberId: pressed.memberId,
      ...(pressed.connection !== undefined && { connection: pressed.connection }),
    }),
    /** `canSend`: on the empty page a picture without a workflow of its own goes into a sample; where it went is told. */
    async openFiles(files: readonly File[], canSend: boolean): Promise<Placed | undefined> {
      const [file] = files;
      if (!file) return undefined;
      if (files.length > 1) {
        store.dispatch({ type: "refused", refusal: { reason: { code: "several_files", count: files.length } } });
        return undefined;
      }
      const result = await openFile(file);
      const { opened, brought } = store.get();
      const isPicture = !result.ok && result.failure.reason.code === "picture" && (await checkPicture(file, ports.decode)) === "picture";
      if (isPicture && canSend && !opened && !brought) return openInSample(file);
      settle(result);
      return undefined;
    },
    async openArrival(arrival: Arrival) {
      store.dispatch({ type: "arriving", isArriving: true });
      if ("assets" in arrival) {
        const brought = await bringAssets(arrival.assets, ports, isLocal);
        if (brought.ok) return store.dispatch({ type: "brought", brought: brought.value });
        return store.dispatch({ type: "refused", refusal: brought.failure });
      }
      settle(await openArrival(arrival, ports));
    },
    /** For the pictures that wait. */
    openFor: (file: OpenedFile) => settleFor(ok(file)),
    openText: (text: string) => settle(openWorkflow(text)),
    openSample: async (sample: SampleName) => settleFor(await openArrival({ sample }, ports)),
    run,
    /** Opens a sample and runs it as it is. */
    async runSample(sample: SampleName) {
      store.dispatch({ type: "arriving", isArriving: true });
      const result = await openArrival({ sample }, ports);
      settle(result);
      if (result.ok) await run(sample);
    },
    /** What became of a press that nobody knows the end of; sends nothing. */
    async askAfter(press: Press) {
      const { opened, isSending } = store.get();
      if (isSending) return;
      store.dispatch({ type: "sending" });
      answered(opened?.serial ?? 0, press, await askAfter(ports, press));
    },
    /** After a reload. */
    recall() {
      store.dispatch({ type: "recalled", receipts: keptReceipts(tabStorage, pressed.memberId) });
    },
    cancelled(jobIds: readonly string[]) {
      store.dispatch({ type: "cancelled", jobIds });
      keepReceipts(tabStorage, pressed.memberId, store.get().receipts);
    },
    leaveTrouble() {
      forgetPress(tabStorage);
      store.dispatch({ type: "trouble-left" });
    },
  };
}
