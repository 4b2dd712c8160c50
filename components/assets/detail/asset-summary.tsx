import { useLocale, useTranslations } from "next-intl";
import useSWRImmutable from "swr/immutable";
import { type Size } from "@/components/ui/hooks/viewport";
import { useSeenSize } from "@/components/viewer/zoomed-picture";
import { readFirstBytes } from "@/lib/browser/files/byte-source";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { formatBytes } from "@/lib/shared/format";
import { pictureSizeOf } from "@/lib/shared/picture-size";
import { assetFileUrl } from "../asset-urls";
import { extensionOf } from "../extension-of";
import { useHandsOutFiles } from "../use-file-download";

/** A photograph's embedded thumbnail usually ends within the first bytes. A WebP stores its orientation at its end. */
const BEGINNINGS = [64 * 1024, 8 * 1024 ** 2];

/** The size in pixels: measured when shown in full, otherwise from the metadata, otherwise from the file's beginning (if `mayAsk`). */
function usePictureSize(asset: AssetView, connectionId: string | undefined, mayAsk: boolean): Size | undefined {
  const { kind, width, height, sizeBytes } = asset;
  const file = assetFileUrl(asset, connectionId);
  const seen = useSeenSize(file);
  const listed = width === undefined || height === undefined ? undefined : { width, height };
  const isAsked = mayAsk && kind === "image" && sizeBytes !== 0 && !seen && !listed && connectionId !== undefined;
  const hasFiles = useHandsOutFiles(isAsked ? connectionId : undefined, file);
  const { data } = useSWRImmutable(isAsked && hasFiles ? ["picture.size", file] : null, () => readSize(file));
  return seen ?? listed ?? data;
}

async function readSize(file: string): Promise<Size | undefined> {
  for (const bytes of BEGINNINGS) {
    const read = await readFirstBytes(file, bytes);
    const size = read.ok ? await pictureSizeOf(read.value.bytes) : undefined;
    if (size || !read.ok || !isWebp(read.value.bytes)) return size;
  }
  return undefined;
}

function isWebp(bytes: Uint8Array): boolean {
  return String.fromCharCode(...bytes.subarray(8, 12)) === "WEBP";
}

type AssetSummaryProps = {
  asset: AssetView;
  connectionId?: string;
  /** The picture itself is beside this, and its size is taken from it. */
  isShownWhole?: boolean;
};

/** "1024 × 768 · 2.4 MB · PNG" */
export function AssetSummary({ asset, connectionId, isShownWhole = false }: AssetSummaryProps) {
  const locale = useLocale();
  const t = useTranslations("assets.details");
  const size = usePictureSize(asset, connectionId, !isShownWhole);
  const { sizeBytes } = asset;
  const parts = [size && t("size", size), sizeBytes === undefined ? undefined : formatBytes(sizeBytes, locale), formatOf(asset)];
  return <p className="text-ink-3">{parts.filter(Boolean).join(" · ")}</p>;
}

/** The usual name of the format: the extension, otherwise the media type, unless that only says "binary data". */
function formatOf(asset: AssetView): string | undefined {
  const { mimeType } = asset;
  const type = mimeType === "application/octet-stream" ? undefined : mimeType?.split("/").at(-1)?.split(/[;+]/)[0];
  return extensionOf(asset) ?? type?.toUpperCase();
}
