"use client";

import { useLocale, useTranslations } from "next-intl";
import { type AssetView } from "@/lib/contract/asset-view";
import { formatBytes } from "@/lib/shared/format";

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
