// Saves a mask to the service: packs, measures and sends it.
// Guarantees: never throws; sends nothing that the service would refuse for its size; if the service does not know a name, the next one
// is tried, since the refusal stored nothing; any other refusal is returned as it is.

import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { upload } from "@/lib/browser/uploads/upload";
import { type FileName, withQuery } from "@/lib/browser/urls";
import { type AssetsAnswer } from "@/lib/contract/schemas/asset";
import { toAssetView } from "@/lib/contract/views/asset-view";
import { failed, type Result } from "@/lib/shared/result";
import { type Coverage } from "../drawing/coverage";
import { type Hold } from "./encode-png";
import { addressOf, type MaskPlace, MAX_BYTES, originalRef } from "./picture-file";

export type SavedMask = {
  name: string;
  subfolder?: string | null;
  type?: string | null;
  display_name?: string | null;
  metadata?: { related_files?: { mask?: string | null; paint?: string | null; painted?: string | null } | null } | null;
};

export type SaveFailure =
  { kind: "not-packed"; reason: string } | { kind: "too-heavy"; bytes: number } | { kind: "failed"; failure: ApiFailure };

/** The steps of saving; each may take a while for a large mask. `storing`: all bytes were sent, and no answer came yet. */
export type SaveStep = { kind: "packing"; share: number } | { kind: "sending"; share: number; bytes: number } | { kind: "storing" };

export type SavePorts = {
  /** Takes over the coverage: its pixels must not be used elsewhere afterwards. */
  encode: (coverage: Coverage, onProgress: (share: number) => void, hold?: Hold) => Promise<Blob>;
  send: (file: Blob, ref: FileName, options: SendOptions) => Promise<Result<SavedMask, ApiFailure>>;
};
type SendOptions = {
  onProgress: (share: number) => void;
  signal: AbortSignal;
  /** The service hands out files, so the stored file can be checked. */
  handsOut: boolean;
};

export async function saveMask(
  coverage: Coverage,
  refs: readonly FileName[],
  { encode, send }: SavePorts,
  { onStep, hold, ...options }: Omit<SendOptions, "onProgress"> & { onStep: (step: SaveStep) => void; hold?: Hold },
): Promise<Result<SavedMask, SaveFailure>> {
  let file: Blob;
  try {
    file = await encode(coverage, (share) => onStep({ kind: "packing", share }), hold);
  } catch (error) {
    return failed(notPacked(error));
  }
  if (file.size > MAX_BYTES) return failed({ kind: "too-heavy", bytes: file.size });
  const bytes = file.size;
  const onProgress = (share: number) => onStep(share < 1 ? { kind: "sending", share, bytes } : { kind: "storing" });
  for (const [index, ref] of refs.entries()) {
    onProgress(0);
    const sent = await send(file, ref, { ...options, onProgress });
    if (sent.ok) return sent;
    if (index === refs.length - 1 || !isUnknownName(sent.failure)) return failed({ kind: "failed", failure: sent.failure });
  }
  return failed({ kind: "not-packed", reason: "the picture has no name" });
}

export function notPacked(error: unknown): SaveFailure {
  return { kind: "not-packed", reason: error instanceof Error ? error.message : String(error) };
}

/** Services answer 400 or 404 for a reference that they cannot resolve; an unacceptable picture has a code of its own. */
function isUnknownName({ status, code }: ApiFailure): boolean {
  return status === 404 || (status === 400 && code !== "INVALID_IMAGE");
}

/** Fields before the bytes, so that a streaming reader knows where they go. The name follows the family's pattern, and is new each time. */
export function sendMask(connection: string | undefined, place?: MaskPlace): SavePorts["send"] {
  return async (file, ref, options) => {
    const form = new FormData();
    form.set("original_ref", originalRef(ref));
    form.set("image", file, `clipspace-mask-${Date.now()}.png`);
    const answer = await upload<SavedMask>(place?.saveAt ?? withQuery("/api/upload/mask", { connection }), { form, ...options });
    if (!answer.ok) return answer;
    if (typeof answer.value?.name !== "string") return failed({ code: "UPSTREAM_UNREADABLE", message: "", status: 502 });
    // A plain local server returns a name even if it did not find the original and stored nothing.
    if (answer.value.metadata || !options.handsOut || (await isThere(answer.value, { connection, place }))) return answer;
    return failed({ code: "NOT_FOUND", message: "", status: 404 });
  };
}

async function isThere({ name, subfolder, type }: SavedMask, from: Parameters<typeof addressOf>[0]): Promise<boolean> {
  const address = addressOf(from, { filename: name, subfolder: subfolder ?? undefined, type: type ?? "input" });
  const answer = await fetch(address, { method: "HEAD", credentials: "same-origin" }).catch(() => undefined);
  return answer?.status !== 404;
}

// Finds the asset of an upload, whose answer names a file and not an asset.
// Guarantees: never throws; undefined unless the list identifies it with certainty.

export async function findAsset({ name, display_name: shown }: SavedMask, connection?: string): Promise<string | undefined> {
  const stem = name.replace(/\.[A-Za-z0-9]{1,12}$/, "");
  const query = { name_contains: shown ?? name, include_public: false, limit: 50, connection };
  const found = await callApi<AssetsAnswer>(withQuery("/api/assets", query), { cache: "no-store" });
  if (!found.ok) return undefined;
  const assets = found.value.assets.map(toAssetView);
  const byHash = assets.find(({ hash }) => hash?.replace(/^\w+:/, "").replace(/\.\w+$/, "") === stem);
  return (byHash ?? assets.find((asset) => asset.name === name))?.id;
}
