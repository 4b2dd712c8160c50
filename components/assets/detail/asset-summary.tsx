"use client";

import { useLocale, useTranslations } from "next-intl";
import { type AssetView } from "@/lib/contract/asset-view";
import { formatBytes } from "@/lib/shared/format";
import { extensionOf } from "../extension-of";
import { usePictureSize } from "./use-picture-size";

type AssetSummaryProps = {
  asset: AssetView;
  connectionId?: string;
  /** The picture itself stands beside this: it will say its size. */
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

/** As people call it: the extension, else what the media type says, unless that is only "some bytes". */
function formatOf(asset: AssetView): string | undefined {
  const { mimeType } = asset;
  const type = mimeType === "application/octet-stream" ? undefined : mimeType?.split("/").at(-1)?.split(/[;+]/)[0];
  return extensionOf(asset) ?? type?.toUpperCase();
}
