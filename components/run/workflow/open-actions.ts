// The actions that open a workflow on the Run page. The newest request wins and aborts an older one.

import { imageSamples, type SampleName } from "@/components/frame/samples/samples";
import { createBlobSource } from "@/lib/browser/files/byte-source";
import { toImageValue } from "@/lib/contract/assets/file-refs";
import { getDrawing } from "@/lib/contract/workflow/workflow-name";
import { failed, ok, type Result } from "@/lib/shared/result";
import { createIdempotencyKey } from "@/lib/shared/text";
import { checkPicture, type PictureApi } from "../form/controls/picture-api";
import { type IncomingWorkflow, type RunStore } from "../run-store";
import { openAnyWorkflow, openBothAsDrawing, openDrawing, openFile } from "./open-workflow";
import { type Format, type OpenedFile, type PendingImage, type Refusal } from "./opened-workflow";
import { findOnlyTarget, type PlacedPicture } from "./pending-images-note";
import { loadAssets, openRunSource, type RunSource } from "./run-sources";
import { type WorkflowApi } from "./workflow-api";
import { readFormat, storeFormat } from "./workflow-memory";

/** `pictures`: the pictures to put into the workflow. */
type OpenResult = { result: Result<OpenedFile, Refusal>; pictures?: readonly PendingImage[] };
type ShowPicture = (picture: IncomingWorkflow["picture"]) => void;

export function createOpenActions(store: RunStore, api: WorkflowApi & PictureApi, connection: string | undefined) {
  function applyResult(result: Result<OpenedFile, Refusal>): void {
    if (!result.ok) return store.refuse(result.failure);
    const file = { ...result.value, ...(result.value.rawTexts && { readFor: connection }) };
    if (!file.both || file.both.shown) return store.open(file);
    const format = readFormat(file.both);
    if (format) void openAs(file, format);
    else store.requestFormat(file);
  }
  async function openAs({ both, storedPath }: OpenedFile, format: Format): Promise<void> {
    if (!both) return;
    const loadFile = () => (format === "run" ? openAnyWorkflow(both.text, api, both.fileName, both.facts) : openBothAsDrawing(both, api));
    const formatState = { both: { ...both, shown: format }, ...(format === "run" && { storedPath }) };
    await openNewest(false, loadFile, (result) => applyResult(result.ok ? ok({ ...result.value, ...formatState }) : result));
  }
  /**
   * Opens the workflow chosen for the pending pictures. Places a single picture if there is only one input; otherwise the user chooses.
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
    store.setFileName(openWorkflow.serial, picture.value, picture.name);
    store.edit(openWorkflow.serial, { nodeId: input.nodeId, name: input.name, value: picture.value });
    store.setPendingImages(undefined);
    return placedPicture;
  }
  /** If anything else is opened or closed meanwhile, `load` is aborted and `onResult` is not called. */
  async function openNewest<T, R>(
    isVisible: boolean,
    load: (signal: AbortSignal, showPicture: ShowPicture) => Promise<T>,
    onResult: (result: T) => R,
  ): Promise<R | undefined> {
    const openingId = createIdempotencyKey();
    const controller = new AbortController();
    store.setIncoming({ openingId, isVisible });
    const unsubscribe = store.subscribe(() => {
      if (store.get().incoming?.openingId !== openingId) controller.abort();
    });
    const showPicture: ShowPicture = (picture) => {
      if (!controller.signal.aborted) store.setIncoming({ openingId, isVisible: true, picture });
    };
    const result = await load(controller.signal, showPicture).finally(unsubscribe);
    return controller.signal.aborted ? undefined : onResult(result);
  }
  /** Puts a picture without a workflow into a sample. */
  async function openSampleWithPicture(file: File, signal: AbortSignal, showPicture: ShowPicture): Promise<OpenResult> {
    const onProgress = (share: number) => showPicture({ name: file.name, share });
    onProgress(0);
    const result = await api.sendPicture(file, { onProgress, signal });
    if (!result.ok) return { result: failed({ reason: { code: "unread", failure: result.failure } }) };
    showPicture(undefined);
    // The sample's own picture is not needed.
    const { shipsPictures: _shipsPictures, sendSamplePicture: _sendSamplePicture, ...apiWithoutPictures } = api;
    const picture = { id: "", value: toImageValue(result.value), name: file.name };
    return { result: await openRunSource({ sample: imageSamples[0] }, apiWithoutPictures), pictures: [picture] };
  }
  return {
    /** With `canSend`, a picture without a workflow is put into a sample on the empty page. Returns the picture's input. */
    async openFiles(files: readonly File[], canSend: boolean): Promise<PlacedPicture | undefined> {
      const [file] = files;
      if (!file) return undefined;
      if (files.length > 1) {
        store.refuse({ reason: { code: "several_files", count: files.length } });
        return undefined;
      }
      return openNewest(
        false,
        async (signal, showPicture): Promise<OpenResult> => {
          const result = await openFile(createBlobSource(file), api, file);
          const isPicture = !result.ok && result.failure.reason.code === "picture" && (await checkPicture(file, api.decode)) === "picture";
          const { openWorkflow, pendingImages } = store.get();
          return isPicture && canSend && !openWorkflow && !pendingImages && !signal.aborted
            ? openSampleWithPicture(file, signal, showPicture)
            : { result };
        },
        ({ result, pictures }) => {
          if (pictures) return applyForPictures(result, pictures);
          applyResult(result);
        },
      );
    },
    async openRunSource(source: RunSource): Promise<void> {
      if (!("assets" in source)) return openNewest(true, () => openRunSource(source, api), applyResult);
      return openNewest(
        true,
        () => loadAssets(source.assets, api),
        (result) => (result.ok ? store.setPendingImages(result.value) : store.refuse(result.failure)),
      );
    },
    cancelOpening() {
      if (store.get().incoming) store.setIncoming(undefined);
    },
    openForPictures: (file: OpenedFile) =>
      applyForPictures(ok({ ...file, ...(file.both && { both: { ...file.both, shown: "run" as const } }) })),
    async openFormat(file: OpenedFile, format: Format) {
      if (file.both) storeFormat(file.both, format);
      return openAs(file, format);
    },
    /** Reads the open editor drawing again with the current connection's node list. */
    async reopenDrawing() {
      const { openWorkflow } = store.get();
      const drawing = getDrawing(openWorkflow?.extraData);
      if (!openWorkflow || !drawing) return;
      const { name, workflowId, storedPath, both, removedSecrets } = openWorkflow;
      await openNewest(
        false,
        async () => {
          const [catalogueResult, { createEditableFile }] = await Promise.all([
            api.readCatalogue(),
            import("@/lib/contract/editor-workflow/write-file"),
          ]);
          const file = catalogueResult.ok
            ? createEditableFile(drawing, catalogueResult.value).applyValues(openWorkflow.graph).file
            : drawing;
          return openDrawing(file, { readCatalogue: async () => catalogueResult });
        },
        (result) => {
          const { openWorkflow: current } = store.get();
          // Keeps edits made while the drawing was loading.
          if (current?.graph !== openWorkflow.graph || current.advanced !== openWorkflow.advanced) return store.setIncoming(undefined);
          applyResult(result.ok ? ok({ ...result.value, name, workflowId, storedPath, both, removedSecrets }) : result);
        },
      );
    },
    openText: (text: string) => openNewest(false, () => openAnyWorkflow(text, api), applyResult),
    openSample: (sample: SampleName) =>
      openNewest(
        false,
        () => openRunSource({ sample }, api),
        (result) => applyForPictures(result),
      ),
    /** Opens a sample and calls `run`, unless the service lacks its picture, since the run would fail. */
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
