"use client";

import { useTranslations } from "next-intl";
import { cn } from "@/components/ui/cn";
import { Picture } from "@/components/ui/picture";
import { type ThumbnailEdge, thumbnailUrl } from "@/lib/browser/urls";
import { type AssetView } from "@/lib/contract/asset-view";
import { KindIcon } from "./kind-icon";

type AssetPictureProps = {
  asset: AssetView;
  connection?: string;
  edge: ThumbnailEdge;
  alt: string;
  eager?: boolean;
  fit?: "cover" | "contain";
  className?: string;
};

/** The preview, or a placeholder of the same size that says what kind of file it is. Nothing is asked for where there can be no picture. */
export function AssetPicture({ asset, connection, edge, alt, eager, fit, className }: AssetPictureProps) {
  const t = useTranslations("assets.kind");
  const mayHavePreview = asset.kind === "image" || asset.kind === "video" || asset.previewUrl !== undefined;
  const extension = /\.([a-z0-9]{1,6})$/i.exec(asset.name)?.[1]?.toUpperCase();
  return (
    <span className={cn("relative block aspect-[4/3] w-full", className)}>
      {mayHavePreview ? (
        <Picture
          src={thumbnailUrl({ asset: asset.id, edge, connection })}
          alt={alt}
          width={320}
          height={240}
          eager={eager}
          fit={fit}
          className="absolute inset-0 size-full"
        />
      ) : (
        <span className="absolute inset-0 grid place-items-center rounded-sm border border-line bg-sunken text-ink-3">
          <span className="flex flex-col items-center gap-1.5">
            <KindIcon kind={asset.kind} className="size-6" />
            <span className="text-sm">{extension ?? t(asset.kind)}</span>
          </span>
        </span>
      )}
      {mayHavePreview && asset.kind !== "image" ? (
        <span className="absolute right-1.5 bottom-1.5 flex items-center gap-1 rounded-sm bg-ink/85 px-1.5 py-0.5 text-xs text-bg">
          <KindIcon kind={asset.kind} className="size-3" />
          {extension ?? t(asset.kind)}
        </span>
      ) : null}
    </span>
  );
}
