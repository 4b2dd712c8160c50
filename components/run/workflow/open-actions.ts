// The actions that open a workflow on the Run page. The newest request wins and aborts an older one.

import { pictureSamples, type SampleName } from "@/components/frame/samples/samples";
import { createBlobSource } from "@/lib/browser/files/byte-source";
import { toImageValue } from "@/lib/contract/assets/file-refs";
import { getDrawing } from "@/lib/contract/workflow/workflow-name";
import { failed, ok, type Result } from "@/lib/shared/result";
import { createIdempotencyKey } from "@/lib/shared/text";
import { checkPicture, type PictureApi } from "../form/controls/picture-api";
import { type Arriving, type RunStore } from "../run-store";
import { openAnyWorkflow, openBothAsDrawing, openDrawing, openFile } from "./open-workflow";
import { type Format, type OpenedFile, type PendingImage, type Refusal } from "./opened-workflow";
import { findOnlyTarget, type PlacedPicture } from "./pending-images-note";
import { loadAssets, openRunSource, type RunSource } from "./run-sources";
import { type WorkflowApi } from "./workflow-api";
import { readFormat, storeFormat } from "./workflow-memory";

/** `pictures`: the pictures to put into the workflow. */
type Opening = { result: Result<OpenedFile, Refusal>; pictures?: readonly PendingImage[] };
type ShowPicture = (picture: Arriving["picture"]) => void;

export function createOpenActions(store: RunStore, api: WorkflowApi & PictureApi, connection: string | undefined) {
  function applyResult(result: Result<OpenedFile, Refusal>): void {
    if (!result.ok) return store.refuse(result.failure);
    const file = { ...result.value, ...(result.value.rawTexts && { readFor: connection }) };
    if (!file.both || file.both.shown) return store.open(file);
    const format = readFormat(file.both);
    if (format) void openAs(file, format);
    else store.askFormat(file);
  }
  async function openAs({ both, storedPath }: OpenedFile, format: Format): Promise<void> {
    if (!both) return;
    const read = () => (format === "run" ? openAnyWorkflow(both.text, api, both.fileName, both.facts) : openBothAsDrawing(both, api));
    const formatState = { both: { ...both, shown: format }, ...(format === "run" && { storedPath }) };
    await openNewest(false, read, (result) => applyResult(result.ok ? ok({ ...result.value, ...formatState }) : result));
  }
  /**
   * Opens the workflow chosen for the waiting pictures: uses them if there is only one input (the page says so); otherwise the page asks.
   */
  function applyForPictures(
    result: Result<OpenedFile, Refusal>,
    pictures = store.get().pendingImages?.pictures,
  ): PlacedPicture | undefined {
    applyResult(result);
    const { openWorkflow } = store.get();
    const placedPicture = result.ok && openWorkflow && pictures && findOnlyTarget(openWorkflow, pictures);
    if (!placedPicture) return undefined;
    const { input, picture } = placedPicture;
    store.nameFile(openWorkflow.serial, picture.value, picture.name);
    store.edit(openWorkflow.serial, { nodeId: input.nodeId, name: input.name, value: picture.value });
    store.setPendingImages(undefined);
    return placedPicture;
  }
  /** If anything else is opened or closed meanwhile, `work` is aborted and `settled` is not called. */
  async function openNewest<T, R>(
    isSeen: boolean,
    work: (signal: AbortSignal, show: ShowPicture) => Promise<T>,
    onResult: (result: T) => R,
  ): Promise<R | undefined> {
    const turn = createIdempotencyKey();
    const controller = new AbortController();
    store.setArriving({ turn, isSeen });
    const unsubscribe = store.subscribe(() => {
      if (store.get().incoming?.turn !== turn) controller.abort();
    });
    const show: ShowPicture = (picture) => {
      if (!controller.signal.aborted) store.setArriving({ turn, isSeen: true, picture });
    };
    const result = await work(controller.signal, show).finally(unsubscribe);
    return controller.signal.aborted ? undefined : onResult(result);
  }
  /** Puts a picture without a workflow into a sample. */
  async function openSampleWithPicture(file: File, signal: AbortSignal, show: ShowPicture): Promise<Opening> {
    const onProgress = (share: number) => show({ name: file.name, share });
    onProgress(0);
    const result = await api.sendPicture(file, { onProgress, signal });
    if (!result.ok) return { result: failed({ reason: { code: "unread", failure: result.failure } }) };
    show(undefined);
    // The sample's own picture is not needed.
    const { shipsPictures: _ships, sendSamplePicture: _send, ...others } = api;
    const picture = { id: "", value: toImageValue(result.value), name: file.name };
    return { result: await openRunSource({ sample: pictureSamples[0] }, others), pictures: [picture] };
  }
  return {
    /** `canSend`: on the empty page, a picture without a workflow goes into a sample. Returns where it was put. */
    async openFiles(files: readonly File[], canSend: boolean): Promise<PlacedPicture | undefined> {
      const [file] = files;
      if (!file) return undefined;
      if (files.length > 1) {
        store.refuse({ reason: { code: "several_files", count: files.length } });
        return undefined;
      }
      return openNewest(
        false,
        async (signal, show): Promise<Opening> => {
          const result = await openFile(createBlobSource(file), api, file);
          const isPicture = !result.ok && result.failure.reason.code === "picture" && (await checkPicture(file, api.decode)) === "picture";
          const { openWorkflow, pendingImages } = store.get();
          return isPicture && canSend && !openWorkflow && !pendingImages && !signal.aborted
            ? openSampleWithPicture(file, signal, show)
            : { result };
        },
        ({ result, pictures }) => {
          if (pictures) return applyForPictures(result, pictures);
          applyResult(result);
        },
      );
    },
    async openRunSource(arrival: RunSource): Promise<void> {
      if (!("assets" in arrival)) return openNewest(true, () => openRunSource(arrival, api), applyResult);
      return openNewest(
        true,
        () => loadAssets(arrival.assets, api),
        (pictures) => (pictures.ok ? store.setPendingImages(pictures.value) : store.refuse(pictures.failure)),
      );
    },
    stopArriving() {
      if (store.get().incoming) store.setArriving(undefined);
    },
    openFor: (file: OpenedFile) => applyForPictures(ok({ ...file, ...(file.both && { both: { ...file.both, shown: "run" as const } }) })),
    async openFormat(file: OpenedFile, format: Format) {
      if (file.both) storeFormat(file.both, format);
      return openAs(file, format);
    },
    /** Reads the open drawing of the editor again, with the list of nodes of the current connection. */
    async reread() {
      const { openWorkflow } = store.get();
      const drawing = getDrawing(openWorkflow?.extraData);
      if (!openWorkflow || !drawing) return;
      const { name, workflowId, storedPath, both, leftOut } = openWorkflow;
      await openNewest(
        false,
        async () => {
          const [catalogue, { createEditableFile }] = await Promise.all([
            api.readCatalogue(),
            import("@/lib/contract/editor-workflow/write-file"),
          ]);
          const file = catalogue.ok ? createEditableFile(drawing, catalogue.value).withValues(openWorkflow.graph).file : drawing;
          return openDrawing(file, { readCatalogue: async () => catalogue });
        },
        (result) => applyResult(result.ok ? ok({ ...result.value, name, workflowId, storedPath, both, leftOut }) : result),
      );
    },
    openText: (text: string) => openNewest(false, () => openAnyWorkflow(text, api), applyResult),
    openSample: (sample: SampleName) =>
      openNewest(
        false,
        () => openRunSource({ sample }, api),
        (result) => applyForPictures(result),
      ),
    /** Opens a sample and hands it to `run`, unless the service lacks its picture: the run would fail. */
    async openSampleToRun(sample: SampleName, run: () => Promise<void>) {
      await openNewest(
        true,
        () => openRunSource({ sample }, api),
        async (result) => {
          applyResult(result);
          if (result.ok && !result.value.unsentPictures) await run();
        },
      );
    },
  };
}
