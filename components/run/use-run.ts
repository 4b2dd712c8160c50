import { useMemo, useSyncExternalStore } from "react";
import { pictureSamples, type SampleName } from "@/components/frame/samples/samples";
import { bytesOfBlob } from "@/lib/browser/files/byte-source";
import { ofTab } from "@/lib/browser/persisted";
import { toImageValue } from "@/lib/contract/assets/file-refs";
import { type Graph } from "@/lib/contract/schemas/graph";
import { drawingIn } from "@/lib/contract/workflow/workflow-name";
import { failed, ok, type Result } from "@/lib/shared/result";
import { newIdempotencyKey } from "@/lib/shared/text";
import { copiesActs } from "./copies/copies-acts";
import { checkPicture } from "./form/controls/check-picture";
import { type RunPorts } from "./run-ports";
import { type Arriving, emptyRun } from "./run-state";
import { type RunStore } from "./run-store";
import { type Attempt, forgetAttempt, noteAttempt, type RunOutcome } from "./submit/attempt";
import { keepReceipts, keptReceipts } from "./submit/receipts-note";
import { askAfter, sendAttempt, toSubmission } from "./submit/submission";
import { type Arrival, bringAssets, openArrival } from "./workflow/arrivals/arrivals";
import { chosenFormat, keepFormat } from "./workflow/format/format-choice";
import { openAnyWorkflow, openDrawing, openDrawingOf, openFile } from "./workflow/open-workflow";
import { type Format, type OpenedFile } from "./workflow/opened";
import { type PendingImage } from "./workflow/pending-images";
import { onlyPlace, type Placed } from "./workflow/picture-inputs";
import { type Refusal } from "./workflow/refusal";
import { type InEditorFile } from "./workflow/use-editor-file";

/** `pictures`: those that are put into it. */
type Opening = { result: Result<OpenedFile, Refusal>; pictures?: readonly PendingImage[] };
type RunContext = { memberId: string; connection?: string };

/** Everything the page can do, bound to its state. */
export function useRun(store: RunStore, ports: RunPorts, context: RunContext) {
  const state = useSyncExternalStore(store.subscribe, store.get, () => emptyRun);
  const { memberId, connection } = context;
  const acts = useMemo(() => actsOf(store, ports, { memberId, connection }), [store, ports, memberId, connection]);
  return { state, ...acts };
}

function actsOf(store: RunStore, ports: RunPorts, context: RunContext) {
  const settle = (result: Result<OpenedFile, Refusal>): undefined => {
    if (!result.ok) return void store.dispatch({ type: "refused", refusal: result.failure });
    const file = { ...result.value, ...(result.value.rawTexts && { readFor: context.connection }) };
    if (!file.both || file.both.shown) return void store.dispatch({ type: "opened", file });
    const format = chosenFormat(file.both);
    if (format) void openAs(file, format);
    else store.dispatch({ type: "asked", file });
  };
  async function openAs({ both, stored }: OpenedFile, shown: Format): Promise<void> {
    if (!both) return;
    const read = () => (shown === "run" ? openAnyWorkflow(both.text, ports, both.fileName, both.known) : openDrawingOf(both, ports));
    const kept = { both: { ...both, shown }, ...(shown === "run" && { stored }) };
    await bring(false, read, (result) => settle(result.ok ? ok({ ...result.value, ...kept }) : result));
  }
  /** Opens what was chosen for the waiting pictures: they go in if there is only one place (the page says so); otherwise the page asks. */
  const settleFor = (result: Result<OpenedFile, Refusal>, pictures = store.get().pendingImages?.pictures): Placed | undefined => {
    settle(result);
    const { opened } = store.get();
    const place = result.ok && opened && pictures && onlyPlace(opened, pictures);
    if (!place) return undefined;
    const { input, picture } = place;
    store.dispatch({ type: "named", serial: opened.serial, value: picture.value, name: picture.name });
    store.dispatch({ type: "edited", serial: opened.serial, nodeId: input.nodeId, name: input.name, value: picture.value });
    store.dispatch({ type: "pending-images", pendingImages: undefined });
    return place;
  };
  const answered = (serial: number, attempt: Attempt, outcome: RunOutcome) => {
    // An attempt with an unknown outcome stays noted, so that a reload asks about it again.
    if (outcome.kind !== "unknown") forgetAttempt(ofTab);
    store.dispatch({ type: "answered", serial, attempt, outcome, atMs: Date.now() });
    keepReceipts(ofTab, context.memberId, store.get().receipts);
  };
  /** Sends the open workflow once: a second call while the first is being sent does nothing. */
  async function run(fallbackName: string, filled: (graph: Graph) => Graph = (graph) => graph, inFile?: InEditorFile) {
    const { opened, isSending, uploading } = store.get();
    if (!opened || isSending || uploading.length > 0) return;
    store.dispatch({ type: "sending" });
    const name = opened.name || fallbackName;
    const attempt: Attempt = { ...context, key: newIdempotencyKey(), workflowId: opened.workflowId, name, atMs: Date.now() };
    noteAttempt(ofTab, attempt);
    const submission = toSubmission({ ...opened, name, graph: filled(opened.graph) }, opened.graph, inFile);
    const outcome = await sendAttempt(ports, attempt, { submission, graph: opened.graph, rerunOf: opened.fromJob });
    answered(opened.serial, attempt, outcome);
  }
  /** The newest request wins: if anything else is opened, closed or asked for meanwhile, `work` is aborted and `settled` is not called. */
  async function bring<T, R>(
    isSeen: boolean,
    work: (signal: AbortSignal, tell: (picture: Arriving["picture"]) => void) => Promise<T>,
    settled: (result: T) => R,
  ): Promise<R | undefined> {
    const turn = newIdempotencyKey();
    const mine = new AbortController();
    store.dispatch({ type: "arriving", arriving: { turn, isSeen } });
    const forget = store.subscribe(() => {
      if (store.get().arriving?.turn !== turn) mine.abort();
    });
    const tell = (picture: Arriving["picture"]) => {
      if (!mine.signal.aborted) store.dispatch({ type: "arriving", arriving: { turn, isSeen: true, picture } });
    };
    const result = await work(mine.signal, tell).finally(forget);
    return mine.signal.aborted ? undefined : settled(result);
  }
  /** Puts a picture that carries no workflow into a sample. */
  async function sampleWith(file: File, signal: AbortSignal, tell: (picture: Arriving["picture"]) => void): Promise<Opening> {
    const onProgress = (share: number) => tell({ name: file.name, share });
    onProgress(0);
    const sent = await ports.sendPicture(file, { onProgress, signal });
    if (!sent.ok) return { result: failed({ reason: { code: "unread", failure: sent.failure } }) };
    tell(undefined);
    // The sample's own picture is not needed.
    const { shipsPictures: _ships, sendSamplePicture: _send, ...others } = ports;
    const picture = { id: "", value: toImageValue(sent.value), name: file.name };
    return { result: await openArrival({ sample: pictureSamples[0] }, others), pictures: [picture] };
  }
  return {
    dispatch: store.dispatch,
    copies: copiesActs(store, ports, {
      memberId: context.memberId,
      ...(context.connection !== undefined && { connection: context.connection }),
    }),
    /** `canSend`: on the empty page a picture without a workflow is put into a sample. Answers where it was put. */
    async openFiles(files: readonly File[], canSend: boolean): Promise<Placed | undefined> {
      const [file] = files;
      if (!file) return undefined;
      if (files.length > 1) {
        store.dispatch({ type: "refused", refusal: { reason: { code: "several_files", count: files.length } } });
        return undefined;
      }
      return bring(
        false,
        async (signal, tell): Promise<Opening> => {
          const result = await openFile(bytesOfBlob(file), ports, file);
          const isPicture =
            !result.ok && result.failure.reason.code === "picture" && (await checkPicture(file, ports.decode)) === "picture";
          const { opened, pendingImages } = store.get();
          return isPicture && canSend && !opened && !pendingImages && !signal.aborted ? sampleWith(file, signal, tell) : { result };
        },
        ({ result, pictures }) => (pictures ? settleFor(result, pictures) : settle(result)),
      );
    },
    async openArrival(arrival: Arrival) {
      if (!("assets" in arrival)) return bring(true, () => openArrival(arrival, ports), settle);
      return bring(
        true,
        () => bringAssets(arrival.assets, ports),
        (pendingImages) =>
          store.dispatch(
            pendingImages.ok
              ? { type: "pending-images", pendingImages: pendingImages.value }
              : { type: "refused", refusal: pendingImages.failure },
          ),
      );
    },
    stopArriving: () => {
      if (store.get().arriving) store.dispatch({ type: "arriving", arriving: undefined });
    },
    /** Opens a file for the pending pictures. */
    openFor: (file: OpenedFile) => settleFor(ok({ ...file, ...(file.both && { both: { ...file.both, shown: "run" as const } }) })),
    /** Opens one format of a file that holds both. */
    async openFormat(file: OpenedFile, format: Format) {
      if (file.both) keepFormat(file.both, format);
      return openAs(file, format);
    },
    /** Reads the open drawing of the editor again, with the list of nodes of the current connection. */
    async readAnew() {
      const { opened } = store.get();
      const drawing = drawingIn(opened?.extraData);
      if (!opened || !drawing) return;
      const { name, workflowId, stored, both, leftOut } = opened;
      await bring(
        false,
        async () => {
          const [catalogue, { writable }] = await Promise.all([ports.readCatalogue(), import("@/lib/contract/editor-workflow/write-file")]);
          const file = catalogue.ok ? writable(drawing, catalogue.value).withValues(opened.graph).file : drawing;
          return openDrawing(file, { readCatalogue: async () => catalogue });
        },
        (result) => settle(result.ok ? ok({ ...result.value, name, workflowId, stored, both, leftOut }) : result),
      );
    },
    openText: (text: string) => bring(false, () => openAnyWorkflow(text, ports), settle),
    openSample: (sample: SampleName) =>
      bring(
        false,
        () => openArrival({ sample }, ports),
        (result) => settleFor(result),
      ),
    run,
    /** Opens a sample and runs it as it is. */
    async runSample(sample: SampleName) {
      await bring(
        true,
        () => openArrival({ sample }, ports),
        async (result) => {
          settle(result);
          // Without its picture it would fail on this service.
          if (result.ok && !result.value.unsent) await run(sample);
        },
      );
    },
    /** Asks what became of an attempt whose outcome is unknown; sends nothing. */
    async askAfter(attempt: Attempt) {
      const { opened, isSending } = store.get();
      if (isSending) return;
      store.dispatch({ type: "sending" });
      answered(opened?.serial ?? 0, attempt, await askAfter(ports, attempt));
    },
    /** After a reload: restores the stored receipts. */
    recall() {
      store.dispatch({ type: "recalled", receipts: keptReceipts(ofTab, context.memberId) });
    },
    cancelled(jobIds: readonly string[]) {
      store.dispatch({ type: "cancelled", jobIds });
      keepReceipts(ofTab, context.memberId, store.get().receipts);
    },
    dismissJob(jobId: string) {
      store.dispatch({ type: "job-dismissed", jobId });
      keepReceipts(ofTab, context.memberId, store.get().receipts);
    },
    dismissSubmitError() {
      forgetAttempt(ofTab);
      store.dispatch({ type: "submit-error-dismissed" });
    },
  };
}
