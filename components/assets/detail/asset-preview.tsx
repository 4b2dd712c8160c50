import dynamic from "next/dynamic";
import { useLocale, useTranslations } from "next-intl";
import { useState } from "react";
import useSWRImmutable from "swr/immutable";
import { useFeature } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { ShareButton } from "@/components/frame/share/share-button";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { type Size } from "@/components/ui/hooks/use-pan-zoom";
import { ButtonLink } from "@/components/ui/link";
import { Skeleton } from "@/components/ui/skeleton";
import { FileName } from "@/components/ui/truncated";
import { Media } from "@/components/viewer/other-media";
import { useLoadedSize, ZoomedPicture } from "@/components/viewer/zoomed-picture";
import { readBytes, readTextExcerpt } from "@/lib/browser/files/byte-source";
import { useRead } from "@/lib/browser/use-read";
import { MASK } from "@/lib/contract/secrets/secret-texts";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { canContainWorkflow } from "@/lib/contract/views/outputs-view";
import { readImageSize } from "@/lib/shared/image-size";
import { formatBytes } from "@/lib/shared/text";
import {
  type AssetRights,
  getAssetFileUrl,
  getAssetThumbnailUrl,
  getEmbeddedWorkflowHref,
  getMaskHref,
  getRunHref,
  useFileDownload,
  useServesFiles,
} from "../asset-api";
import { AssetThumbnail, getExtension, KindIcon } from "../asset-thumbnail";
import { toRows } from "../filter/metadata-rows";
import { type AssetEdits } from "./asset-tags";

type AssetPreviewProps = {
  asset: AssetView;
  connectionId?: string;
  /** True on the asset's own page, which shows the file itself. */
  isLarge: boolean;
};

/** Shows the asset as an image, player or text, otherwise its name and size. */
export function AssetPreview({ asset, connectionId, isLarge }: AssetPreviewProps) {
  const t = useTranslations("assets.details");
  const label = t("previewAlt", { name: asset.name });
  const fileUrl = getAssetFileUrl(asset, connectionId);
  const [brokenUrl, setBrokenUrl] = useState<string>();
  const hasFiles = useServesFiles(connectionId, fileUrl);
  const isBroken = brokenUrl === fileUrl;
  const markBroken = () => setBrokenUrl(fileUrl);
  const thumbnail = <AssetThumbnail asset={asset} connection={connectionId} edge={isLarge ? 1024 : 512} alt={label} eager fit="contain" />;

  // A preview may come from another asset or URL, even if the service serves no files.
  const fallback = asset.kind === "image" || asset.kind === "video" || asset.previewUrl ? thumbnail : <FilePlaceholder asset={asset} />;
  if (!hasFiles) return fallback;
  if (asset.kind === "image") {
    if (!isLarge) return thumbnail;
    if (!isBroken) {
      const poster = getAssetThumbnailUrl(asset, 512, { connection: connectionId });
      return (
        <ZoomedPicture key={fileUrl} container="page" src={fileUrl} alt={label} poster={poster} initialSize={asset} onBroken={markBroken} />
      );
    }
    return (
      <>
        {thumbnail}
        <p className="mt-1.5 text-ink-3">{t("noFile")}</p>
      </>
    );
  }
  if (asset.sizeBytes === 0) return <FilePlaceholder asset={asset} />;
  if (asset.kind === "text") return <TextPreview src={fileUrl} name={asset.name} />;
  if (asset.kind !== "audio" && asset.kind !== "video") return fallback;
  const playerProps = { kind: asset.kind, src: fileUrl, label, onBroken: markBroken };
  if (asset.kind === "video" && !isBroken) {
    return <Media key={fileUrl} {...playerProps} className="aspect-[4/3] w-full rounded-sm bg-sunken" />;
  }
  return (
    <>
      {thumbnail}
      {isBroken ? <p className="mt-1.5 text-ink-3">{t("noPlay")}</p> : <Media key={fileUrl} {...playerProps} className="mt-2 w-full" />}
    </>
  );
}

function FilePlaceholder({ asset }: { asset: AssetView }) {
  const locale = useLocale();
  return (
    <div className="flex items-center gap-3 rounded-sm border border-line bg-sunken p-4">
      <KindIcon kind={asset.kind} className="size-8 shrink-0 text-ink-3" />
      <div className="min-w-0">
        <p className="font-medium break-all">
          <FileName name={asset.name} />
        </p>
        {asset.sizeBytes === undefined ? null : <p className="text-ink-3">{formatBytes(asset.sizeBytes, locale)}</p>}
      </div>
    </div>
  );
}

/** Shows a text file, or the beginning of a long one. */
function TextPreview({ src, name }: { src: string; name: string }) {
  const t = useTranslations("assets.details");
  const { data, error, mutate } = useRead(src, () => readTextExcerpt(src), { revalidateIfStale: false });
  if (error) return <FailureMessage failure={error} onRetry={() => void mutate()} />;
  if (!data) return <Skeleton className="h-40 w-full" />;
  return (
    <div>
      <pre
        tabIndex={0}
        aria-label={name}
        className="max-h-[calc(62*var(--dvh))] overflow-auto rounded-md border border-line bg-sunken p-2.5 font-mono text-sm break-words whitespace-pre-wrap"
      >
        {data.text}
      </pre>
      {data.isComplete ? null : <p className="mt-1 text-sm text-ink-3">{t("beginning")}</p>}
    </div>
  );
}

/** The first prefix usually includes a photo's embedded thumbnail. WebP files store their orientation at the end. */
const PREFIX_BYTES = [64 * 1024, 8 * 1024 ** 2];

/** Returns the size in pixels from the loaded image, the metadata or, if `canFetch`, the file's first bytes. */
function useImageSize(asset: AssetView, connectionId: string | undefined, canFetch: boolean): Size | undefined {
  const { kind, width, height, sizeBytes } = asset;
  const fileUrl = getAssetFileUrl(asset, connectionId);
  const loadedSize = useLoadedSize(fileUrl);
  const listedSize = width === undefined || height === undefined ? undefined : { width, height };
  const shouldFetch = canFetch && kind === "image" && sizeBytes !== 0 && !loadedSize && !listedSize && connectionId !== undefined;
  const hasFiles = useServesFiles(shouldFetch ? connectionId : undefined, fileUrl);
  const { data } = useSWRImmutable(shouldFetch && hasFiles ? ["picture.size", fileUrl] : null, () => readSize(fileUrl));
  return loadedSize ?? listedSize ?? data;
}

async function readSize(fileUrl: string): Promise<Size | undefined> {
  for (const prefixBytes of PREFIX_BYTES) {
    const firstBytesResult = await readBytes(fileUrl, prefixBytes);
    const size = firstBytesResult.ok ? await readImageSize(firstBytesResult.value.bytes) : undefined;
    if (size || !firstBytesResult.ok || !isWebp(firstBytesResult.value.bytes)) return size;
  }
  return undefined;
}

function isWebp(bytes: Uint8Array): boolean {
  return String.fromCharCode(...bytes.subarray(8, 12)) === "WEBP";
}

type AssetSummaryProps = {
  asset: AssetView;
  connectionId?: string;
  /** True if the page also shows the full image, so that its size can be measured. */
  isFullImageVisible?: boolean;
};

/** "1024 × 768 · 2.4 MB · PNG" */
export function AssetSummary({ asset, connectionId, isFullImageVisible = false }: AssetSummaryProps) {
  const locale = useLocale();
  const t = useTranslations("assets.details");
  const size = useImageSize(asset, connectionId, !isFullImageVisible);
  const { sizeBytes } = asset;
  const summaryItems = [size && t("size", size), sizeBytes === undefined ? undefined : formatBytes(sizeBytes, locale), getFormat(asset)];
  return <p className="text-ink-3">{summaryItems.filter(Boolean).join(" · ")}</p>;
}

/** Returns the extension, otherwise the subtype of the media type unless it is generic binary. */
function getFormat(asset: AssetView): string | undefined {
  const { mimeType } = asset;
  const subtype = mimeType === "application/octet-stream" ? undefined : mimeType?.split("/").at(-1)?.split(/[;+]/)[0];
  return getExtension(asset) ?? subtype?.toUpperCase();
}

const EditDialog = dynamic(() => import("./edit-dialog").then((module) => module.EditDialog), { ssr: false });

type AssetActionsProps = { asset: AssetView; connectionId?: string; connection?: string; rights: AssetRights; edits: AssetEdits };

/** The available actions for one asset, with the reason for unavailable ones. */
export function AssetActions({ asset, connectionId, connection, rights, edits }: AssetActionsProps) {
  const t = useTranslations("assets.details");
  const removesFiles = useFeature("fileRemoval");
  const common = useTranslations("common");
  const download = useFileDownload();
  const [isEditing, setEditing] = useState(false);
  const fileUrl = getAssetFileUrl(asset, connectionId);
  const hasFiles = useServesFiles(connectionId, fileUrl);
  // The owner is unknown, so everyone who may change the asset sees the warning.
  const leakedRows = rights.canTag ? toRows(asset.metadata).filter(({ value }) => value.includes(MASK)) : [];
  const reasonKey = asset.immutable
    ? "whyImmutable"
    : rights.restrictionReason === "service"
      ? "whyService"
      : rights.restrictionReason === "unsure"
        ? "whyUnsure"
        : undefined;
  return (
    <div>
      <div className="flex flex-wrap gap-2">
        {hasFiles ? (
          <a
            href={fileUrl}
            download={asset.name}
            className={buttonStyle()}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey) return;
              event.preventDefault();
              void download(fileUrl, asset.name);
            }}
          >
            {t("download")}
          </a>
        ) : null}
        {rights.canTag ? <ButtonLink href={getRunHref([asset.id], connection)}>{t("useInRun")}</ButtonLink> : null}
        {rights.canTag && hasFiles && canContainWorkflow(asset.name) ? (
          <ButtonLink href={getEmbeddedWorkflowHref(asset.id, connection)}>{t("openWorkflow")}</ButtonLink>
        ) : null}
        {rights.canTag && hasFiles && asset.kind === "image" ? (
          <ButtonLink href={getMaskHref(asset.id, connection)}>{t("drawMask")}</ButtonLink>
        ) : null}
        {rights.canTag && hasFiles ? <ShareButton subject={{ assets: [asset.id] }} connectionId={connectionId} /> : null}
        {rights.can("assets.edit") && !asset.immutable ? <Button onClick={() => setEditing(true)}>{t("edit")}</Button> : null}
        {rights.can("assets.delete") && !asset.immutable ? (
          <Button
            tone="danger"
            busy={edits.busy === "delete"}
            disabled={edits.pendingDeletions.some(({ payload }) => payload.id === asset.id)}
            onClick={edits.remove}
          >
            {t("delete")}
          </Button>
        ) : null}
      </div>
      {leakedRows.length > 0 ? (
        <p className="mt-2 rounded-md bg-wait-soft px-2.5 py-2 break-words">
          {t("secretIn", { count: leakedRows.length, fields: leakedRows.map(({ path }) => path).join(", ") })}
        </p>
      ) : null}
      {hasFiles ? null : <p className="mt-2 text-sm text-ink-3">{t("noFiles")}</p>}
      {reasonKey && rights.canTag ? <p className="mt-2 text-sm text-ink-3">{t(reasonKey)}</p> : null}
      {isEditing ? <EditDialog asset={asset} edits={edits} onClose={() => setEditing(false)} /> : null}
      {edits.pendingDeletions.map(({ key, payload }) => (
        <div key={key} role="status" className="mt-2 rounded-md bg-off-soft p-2">
          <p className="mb-1.5 break-words">{t(removesFiles ? "going" : "goingLocal", payload)}</p>
          <Button size="small" onClick={() => edits.undo(key)}>
            {common("undo")}
          </Button>
        </div>
      ))}
    </div>
  );
}
