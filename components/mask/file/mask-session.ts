import { useEffect, useRef, useState } from "react";
import { warnBeforeLeaving } from "@/components/ui/hooks/page-events";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { upload } from "@/lib/browser/uploads/upload";
import { type FileName, withQuery } from "@/lib/browser/urls";
import { type AssetsAnswer } from "@/lib/contract/schemas/asset";
import { toAssetView } from "@/lib/contract/views/asset-view";
import { failed, type Result } from "@/lib/shared/result";
import { type Coverage } from "../drawing/coverage";
import { createMaskDocument, type MaskDocument } from "../drawing/mask-document";
import { type MaskEncoding } from "./encode-png";
import { type OpenedMask } from "./open-mask";
import { getFileUrl, type MaskTarget, MAX_BYTES, originalRef } from "./picture-file";

export type OpenSession = { mask: OpenedMask; drawing: MaskDocument };

export function createSession(openedMask: OpenedMask): OpenSession {
  const drawing = createMaskDocument(openedMask.coverage);
  if (openedMask.earlier === "layers" || openedMask.earlier === "alpha") void drawing.prepare();
  return { mask: openedMask, drawing };
}

// Unsaved drawings with their history, stored in this tab so that navigation loses nothing. The latest one is always kept, earlier ones within a
// memory budget. The browser warns before the tab is closed while any is stored.

type StoredSession = { session: OpenSession; name: string };

const MEMORY_BUDGET_BYTES = 512 * 1024 * 1024;
const sessions = new Map<string, StoredSession>();

/** Returns the names of evicted drawings. */
export function storeSession(key: string, work: StoredSession, budget = MEMORY_BUDGET_BYTES): string[] {
  sessions.delete(key);
  sessions.set(key, work);
  window.addEventListener("beforeunload", warnBeforeUnload);
  const lostNames: string[] = [];
  for (const [oldest, { session, name }] of sessions) {
    if (sessions.size === 1 || [...sessions.values()].reduce((sum, session) => sum + countBytes(session), 0) <= budget) break;
    session.mask.picture?.close();
    sessions.delete(oldest);
    lostNames.push(name);
  }
  return lostNames;
}

/** Removes and returns a stored drawing. */
export function takeSession(key: string): OpenSession | undefined {
  const work = sessions.get(key);
  sessions.delete(key);
  if (sessions.size === 0) window.removeEventListener("beforeunload", warnBeforeUnload);
  return work?.session;
}

function countBytes({ session: { mask, drawing } }: StoredSession): number {
  const { width = 0, height = 0 } = mask.picture?.bitmap ?? {};
  return drawing.coverage.data.length + width * height * 4 + drawing.savedBytes();
}

function warnBeforeUnload(event: BeforeUnloadEvent): void {
  warnBeforeLeaving(event);
}

export type SaveState = { kind: "idle" } | SaveStep | { kind: "saved"; mask: SavedMask } | { kind: "failed"; failure: SaveFailure };

/** Saves one mask at a time. The drawing is kept after any outcome. */
export function useSave({ mask: opened, drawing }: OpenSession, ports: SavePorts, onSaved?: (mask: SavedMask) => void) {
  const [state, setState] = useState<SaveState>({ kind: "idle" });
  const saveController = useRef<AbortController>(undefined);
  useEffect(() => () => saveController.current?.abort(), []);

  async function save(): Promise<void> {
    if (saveController.current || drawing.state().isBusy || drawing.isStroking()) return;
    const controller = new AbortController();
    saveController.current = controller;
    setState({ kind: "packing", share: 0 });
    const copy = await drawing.snapshot().catch(toEncodeFailure);
    if (!copy || "kind" in copy) {
      saveController.current = undefined;
      return setState(copy ? { kind: "failed", failure: copy } : { kind: "idle" });
    }
    const version = drawing.version();
    const result = await saveMask(copy, opened.refs, ports, {
      onStep: (step) => saveController.current === controller && setState(step),
      signal: controller.signal,
      servesFiles: !opened.lacksFile,
      hold: opened.hold,
    });
    saveController.current = undefined;
    if (controller.signal.aborted && !result.ok) return setState({ kind: "idle" });
    if (!result.ok) return setState({ kind: "failed", failure: result.failure });
    drawing.saved(version);
    setState({ kind: "saved", mask: result.value });
    onSaved?.(result.value);
  }
  return { state, save, stop: () => saveController.current?.abort(), forget: () => setState({ kind: "idle" }) };
}

/** Undefined if no save is in progress. */
export function getSaveStep(state: SaveState): SaveStep | undefined {
  return state.kind === "packing" || state.kind === "sending" || state.kind === "storing" ? state : undefined;
}

// Encodes a mask and sends it to the service.
// Guarantees: never throws; sends nothing that is too large for the service. If the service does not know a file name, the next one is tried;
// any other failure is returned.

export type SavedMask = {
  name: string;
  subfolder?: string | null;
  type?: string | null;
  display_name?: string | null;
  metadata?: { related_files?: { mask?: string | null; paint?: string | null; painted?: string | null } | null } | null;
};

export type SaveFailure =
  { kind: "not-packed"; reason: string } | { kind: "too-heavy"; bytes: number } | { kind: "failed"; failure: ApiFailure };

/** The steps of saving. `storing`: all bytes were sent, without a response yet. */
export type SaveStep = { kind: "packing"; share: number } | { kind: "sending"; share: number; bytes: number } | { kind: "storing" };

export type SavePorts = {
  /** Takes ownership of the coverage; don't use its pixels afterwards. */
  encode: (coverage: Coverage, onProgress: (share: number) => void, hold?: MaskEncoding) => Promise<Blob>;
  send: (file: Blob, ref: FileName, options: SendOptions) => Promise<Result<SavedMask, ApiFailure>>;
};
type SendOptions = {
  onProgress: (share: number) => void;
  signal: AbortSignal;
  /** Whether the service serves files, so that the stored file can be checked. */
  servesFiles: boolean;
};

export async function saveMask(
  coverage: Coverage,
  refs: readonly FileName[],
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
  return failed({ kind: "not-packed", reason: "the picture has no name" });
}

function toEncodeFailure(error: unknown): SaveFailure {
  return { kind: "not-packed", reason: error instanceof Error ? error.message : String(error) };
}

/** Services return 400 or 404 for an unknown reference; an unacceptable picture has its own code. */
function isUnknownName({ status, code }: ApiFailure): boolean {
  return status === 404 || (status === 400 && code !== "INVALID_IMAGE");
}

/** Sends the fields before the bytes, for streaming servers. The file name is new each time. */
export function sendMask(connection: string | undefined, maskTarget?: MaskTarget): SavePorts["send"] {
  return async (file, ref, options) => {
    const form = new FormData();
    form.set("original_ref", originalRef(ref));
    form.set("image", file, `clipspace-mask-${Date.now()}.png`);
    const result = await upload<SavedMask>(maskTarget?.saveAt ?? withQuery("/api/upload/mask", { connection }), { form, ...options });
    if (!result.ok) return result;
    if (typeof result.value?.name !== "string") return failed({ code: "UPSTREAM_UNREADABLE", message: "", status: 502 });
    // A local server returns a name even if it did not find the original and stored nothing.
    if (result.value.metadata || !options.servesFiles || (await fileExists(result.value, { connection, target: maskTarget })))
      return result;
    return failed({ code: "NOT_FOUND", message: "", status: 404 });
  };
}

async function fileExists({ name, subfolder, type }: SavedMask, from: Parameters<typeof getFileUrl>[0]): Promise<boolean> {
  const address = getFileUrl(from, { filename: name, subfolder: subfolder ?? undefined, type: type ?? "input" });
  const response = await fetch(address, { method: "HEAD", credentials: "same-origin" }).catch(() => undefined);
  return response?.status !== 404;
}

// Finds the asset of an uploaded file. Undefined unless the list identifies it with certainty; never throws.

export async function findAsset({ name, display_name: displayName }: SavedMask, connection?: string): Promise<string | undefined> {
  const stem = name.replace(/\.[A-Za-z0-9]{1,12}$/, "");
  const query = { name_contains: displayName ?? name, include_public: false, limit: 50, connection };
  const result = await callApi<AssetsAnswer>(withQuery("/api/assets", query), { cache: "no-store" });
  if (!result.ok) return undefined;
  const assets = result.value.assets.map(toAssetView);
  const byHash = assets.find(({ hash }) => hash?.replace(/^\w+:/, "").replace(/\.\w+$/, "") === stem);
  return (byHash ?? assets.find((asset) => asset.name === name))?.id;
}
