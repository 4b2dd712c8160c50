import { useEffect, useRef, useState } from "react";
import { warnBeforeLeaving } from "@/components/ui/hooks/page-events";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { upload } from "@/lib/browser/uploads/upload";
import { type FileReference, withQuery } from "@/lib/browser/urls";
import { type AssetsResponse } from "@/lib/contract/schemas/asset";
import { toAssetView } from "@/lib/contract/views/asset-view";
import { failed, type Result } from "@/lib/shared/result";
import { type Coverage } from "../drawing/coverage";
import { createMaskDocument, type MaskDocument } from "../drawing/mask-document";
import { type MaskEncoding } from "./encode-png";
import { getFileUrl, type MaskTarget, MAX_BYTES, toOriginalRef } from "./mask-source";
import { type OpenedMask } from "./open-mask";

export type OpenSession = { mask: OpenedMask; drawing: MaskDocument };

export function createSession(openedMask: OpenedMask): OpenSession {
  const drawing = createMaskDocument(openedMask.coverage);
  if (openedMask.earlier === "layers" || openedMask.earlier === "alpha") void drawing.prepare();
  return { mask: openedMask, drawing };
}

// Unsaved drawings with their history, stored in this tab so that they survive navigation. Keeps the latest drawing, and evicts
// older ones that exceed the memory budget. While any drawing is stored, the browser warns before the tab is closed.

type StoredSession = { session: OpenSession; name: string };

const MEMORY_BUDGET_BYTES = 512 * 1024 * 1024;
const sessions = new Map<string, StoredSession>();

/** Returns the names of evicted drawings. */
export function storeSession(key: string, storedSession: StoredSession, budget = MEMORY_BUDGET_BYTES): string[] {
  sessions.delete(key);
  sessions.set(key, storedSession);
  window.addEventListener("beforeunload", warnBeforeUnload);
  const evictedNames: string[] = [];
  for (const [key, { session, name }] of sessions) {
    if (sessions.size === 1 || [...sessions.values()].reduce((sum, entry) => sum + countBytes(entry), 0) <= budget) break;
    session.mask.picture?.close();
    sessions.delete(key);
    evictedNames.push(name);
  }
  return evictedNames;
}

/** Removes and returns a stored drawing. */
export function removeSession(key: string): OpenSession | undefined {
  const storedSession = sessions.get(key);
  sessions.delete(key);
  if (sessions.size === 0) window.removeEventListener("beforeunload", warnBeforeUnload);
  return storedSession?.session;
}

function countBytes({ session: { mask, drawing } }: StoredSession): number {
  const { width = 0, height = 0 } = mask.picture?.bitmap ?? {};
  return drawing.coverage.data.length + width * height * 4 + drawing.getSavedBytes();
}

function warnBeforeUnload(event: BeforeUnloadEvent): void {
  warnBeforeLeaving(event);
}

export type SaveState = { kind: "idle" } | SaveStep | { kind: "saved"; mask: SavedMask } | { kind: "failed"; failure: SaveFailure };

/** Saves one mask at a time. The drawing is kept after any outcome. */
export function useSave({ mask, drawing }: OpenSession, ports: SavePorts, onSaved?: (mask: SavedMask) => void) {
  const [state, setState] = useState<SaveState>({ kind: "idle" });
  const saveController = useRef<AbortController>(undefined);
  useEffect(() => () => saveController.current?.abort(), []);

  async function save(): Promise<void> {
    if (saveController.current || drawing.getState().isBusy || drawing.isDrawing()) return;
    const controller = new AbortController();
    saveController.current = controller;
    setState({ kind: "packing", share: 0 });
    const snapshot = await drawing.snapshot().catch(toEncodeFailure);
    if (!snapshot || "kind" in snapshot) {
      saveController.current = undefined;
      return setState(snapshot ? { kind: "failed", failure: snapshot } : { kind: "idle" });
    }
    const version = drawing.getVersion();
    const result = await saveMask(snapshot, mask.refs, ports, {
      onStep: (step) => saveController.current === controller && setState(step),
      signal: controller.signal,
      servesFiles: !mask.lacksFile,
      hold: mask.hold,
    });
    saveController.current = undefined;
    if (controller.signal.aborted && !result.ok) return setState({ kind: "idle" });
    if (!result.ok) return setState({ kind: "failed", failure: result.failure });
    drawing.markSaved(version);
    setState({ kind: "saved", mask: result.value });
    onSaved?.(result.value);
  }
  return { state, save, stop: () => saveController.current?.abort(), dismiss: () => setState({ kind: "idle" }) };
}

/** Undefined if no save is in progress. */
export function getSaveStep(state: SaveState): SaveStep | undefined {
  return state.kind === "packing" || state.kind === "sending" || state.kind === "storing" ? state : undefined;
}

// Encodes a mask and sends it to the service.
// Guarantees: never throws, and never sends a file that is too large for the service. If the service doesn't find a file
// reference, the next one is tried. Any other failure is returned.

export type SavedMask = {
  name: string;
  subfolder?: string | null;
  type?: string | null;
  display_name?: string | null;
  metadata?: { related_files?: { mask?: string | null; paint?: string | null; painted?: string | null } | null } | null;
};

export type SaveFailure =
  { kind: "not-packed"; reason: string } | { kind: "too-heavy"; bytes: number } | { kind: "failed"; failure: ApiFailure };

/** The steps of saving. `storing`: all bytes were sent, but the service has not responded yet. */
export type SaveStep = { kind: "packing"; share: number } | { kind: "sending"; share: number; bytes: number } | { kind: "storing" };

export type SavePorts = {
  /** Takes ownership of the coverage. Don't use its pixels afterwards. */
  encode: (coverage: Coverage, onProgress: (share: number) => void, hold?: MaskEncoding) => Promise<Blob>;
  send: (file: Blob, ref: FileReference, options: SendOptions) => Promise<Result<SavedMask, ApiFailure>>;
};
type SendOptions = {
  onProgress: (share: number) => void;
  signal: AbortSignal;
  /** Whether the service serves files, so that the stored file can be checked. */
  servesFiles: boolean;
};

export async function saveMask(
  coverage: Coverage,
  refs: readonly FileReference[],
  { encode, send }: SavePorts,
  { onStep, hold, ...options }: Omit<SendOptions, "onProgress"> & { onStep: (step: SaveStep) => void; hold?: MaskEncoding },
): Promise<Result<SavedMask, SaveFailure>> {
  let file: Blob;
  try {
    file = await encode(coverage, (share) => onStep({ kind: "packing", share }), hold);
  } catch (error) {
    return failed(toEncodeFailure(error));
  }
  if (file.size > MAX_BYTES) return failed({ kind: "too-heavy", bytes: file.size });
  const bytes = file.size;
  const onProgress = (share: number) => onStep(share < 1 ? { kind: "sending", share, bytes } : { kind: "storing" });
  for (const [index, ref] of refs.entries()) {
    onProgress(0);
    const result = await send(file, ref, { ...options, onProgress });
    if (result.ok) return result;
    if (index === refs.length - 1 || !isUnknownName(result.failure)) return failed({ kind: "failed", failure: result.failure });
  }
  return failed({ kind: "not-packed", reason: "the image has no file reference" });
}

function toEncodeFailure(error: unknown): SaveFailure {
  return { kind: "not-packed", reason: error instanceof Error ? error.message : String(error) };
}

/** Services return 400 or 404 for an unknown reference. An invalid image has its own code. */
function isUnknownName({ status, code }: ApiFailure): boolean {
  return status === 404 || (status === 400 && code !== "INVALID_IMAGE");
}

/** Uploads a mask. Sends the fields first, because streaming servers need them before the file. Each upload has a new file name. */
export function createMaskUploader(connection: string | undefined, maskTarget?: MaskTarget): SavePorts["send"] {
  return async (file, ref, options) => {
    const form = new FormData();
    form.set("original_ref", toOriginalRef(ref));
    form.set("image", file, `clipspace-mask-${Date.now()}.png`);
    const result = await upload<SavedMask>(maskTarget?.savePath ?? withQuery("/api/upload/mask", { connection }), { form, ...options });
    if (!result.ok) return result;
    if (typeof result.value?.name !== "string") return failed({ code: "UPSTREAM_UNREADABLE", message: "", status: 502 });
    // A local server returns a name even if it did not find the original and did not store the mask.
    if (result.value.metadata || !options.servesFiles || (await fileExists(result.value, { connection, target: maskTarget })))
      return result;
    return failed({ code: "NOT_FOUND", message: "", status: 404 });
  };
}

async function fileExists({ name, subfolder, type }: SavedMask, location: Parameters<typeof getFileUrl>[0]): Promise<boolean> {
  const url = getFileUrl(location, { filename: name, subfolder: subfolder ?? undefined, type: type ?? "input" });
  const response = await fetch(url, { method: "HEAD", credentials: "same-origin" }).catch(() => undefined);
  return response?.status !== 404;
}

// Finds the asset of an uploaded file. Returns undefined if no asset matches the hash or name. Never throws.

export async function findAsset({ name, display_name: displayName }: SavedMask, connection?: string): Promise<string | undefined> {
  const baseName = name.replace(/\.[A-Za-z0-9]{1,12}$/, "");
  const query = { name_contains: displayName ?? name, include_public: false, limit: 50, connection };
  const result = await callApi<AssetsResponse>(withQuery("/api/assets", query), { cache: "no-store" });
  if (!result.ok) return undefined;
  const assets = result.value.assets.map(toAssetView);
  const assetByHash = assets.find(({ hash }) => hash?.replace(/^\w+:/, "").replace(/\.\w+$/, "") === baseName);
  return (assetByHash ?? assets.find((asset) => asset.name === name))?.id;
}
