"use client";

import Link from "next/link";
import { useLocale, useTranslations } from "next-intl";
import { buttonStyle } from "@/components/ui/button";
import { chipStyle } from "@/components/ui/chip";
import { withQuery } from "@/lib/browser/urls";
import { type AssetView } from "@/lib/contract/asset-view";
import { formatBytes } from "@/lib/shared/format";
import { AssetPicture } from "./asset-picture";
import { assetFileUrl } from "./asset-urls";

type PartProps = { asset: AssetView; connectionId?: string };

export function AssetPreview({ asset, connectionId, edge }: PartProps & { edge: 512 | 1024 }) {
  const t = useTranslations("assets.details");
  const label = t("previewAlt", { name: asset.name });
  const file = assetFileUrl(asset, connectionId);
  if (asset.kind === "video")
    return <video controls preload="metadata" aria-label={label} src={file} className="aspect-[4/3] w-full rounded-sm bg-sunken" />;
  return (
    <>
      <AssetPicture asset={asset} connection={connectionId} edge={edge} alt={label} eager fit="contain" />
      {asset.kind === "audio" ? <audio controls preload="metadata" aria-label={label} src={file} className="mt-2 w-full" /> : null}
    </>
  );
}

/** "1024 × 768 · 2.4 MB · PNG" */
export function AssetSummary({ asset }: { asset: AssetView }) {
  const locale = useLocale();
  const t = useTranslations("assets.details");
  const { width, height, sizeBytes, mimeType } = asset;
  const parts = [
    width !== undefined && height !== undefined ? t("size", { width, height }) : undefined,
    sizeBytes === undefined ? undefined : formatBytes(sizeBytes, locale),
    mimeType?.split("/").at(-1)?.toUpperCase(),
  ];
  return <p className="text-ink-3">{parts.filter(Boolean).join(" · ")}</p>;
}

export function AssetTags({ asset, connection }: { asset: AssetView; connection?: string }) {
  const t = useTranslations("assets.details");
  return (
    <ul aria-label={t("tags")} className="flex flex-wrap gap-1.5">
      {asset.tags.length === 0 ? <li className="text-ink-3">{t("noTags")}</li> : null}
      {asset.tags.map((tag) => (
        <li key={tag} className="max-w-full min-w-0">
          <Link href={withQuery("/assets", { include_tags: tag, connection })} className={chipStyle(false, "max-w-full")}>
            <span className="truncate">{tag}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

export function AssetActions({ asset, connectionId }: PartProps) {
  const t = useTranslations("assets.details");
  const file = assetFileUrl(asset, connectionId);
  return (
    <>
      <a href={file} download={asset.name} className={buttonStyle()}>
        {t("download")}
      </a>
      <a href={file} target="_blank" rel="noreferrer" className={buttonStyle()}>
        {t("full")}
      </a>
    </>
  );
}
