"use client";

import { useTranslations } from "next-intl";
import { cn } from "@/components/ui/cn";
import { Picture } from "@/components/ui/picture";
import { type ThumbnailEdge } from "@/lib/browser/urls";
import { type AssetView } from "@/lib/contract/asset-view";
import { pictureUrl } from "./asset-urls";
import { KindIcon } from "./kind-icon";

type AssetPictureProps = {
  asset: AssetView;
  connection?: string;
  edge: ThumbnailEdge;
  alt: string;
  /** False: its box alone, until somebody stays to look. */
  isAsked?: boolean;
  /** No room for words. */
  isPlain?: boolean;
  eager?: boolean;
  fit?: "cover" | "contain";
  className?: string;
};

const doubled = { 128: 256, 256: 512, 512: 1024, 1024: 1024 } as const;

/** The preview, or a placeholder of the same size that says what kind of file it is. Nothing is asked for where there can be no picture. */
export function AssetPicture({ asset, connection, edge, alt, isAsked = true, isPlain = false, eager, fit, className }: AssetPictureProps) {
  const mayHavePreview = asset.kind === "image" || asset.kind === "video" || asset.previewUrl !== undefined;
  const extension = /\.([a-z0-9]{1,11})$/i.exec(asset.name)?.[1]?.toUpperCase();
  const plate = (
    <span
      role={alt ? "img" : undefined}
      aria-label={alt || undefined}
      className="plate absolute inset-0 grid place-items-center rounded-sm border border-line bg-sunken text-ink-3"
    >
      <span className="flex max-w-full flex-col items-center gap-1.5">
        <KindIcon kind={asset.kind} className={isPlain ? "size-4" : "size-6"} />
        <span className={isPlain ? "sr-only" : "max-w-full truncate px-1 text-sm"}>{extension ?? <KindName kind={asset.kind} />}</span>
      </span>
    </span>
  );
  const urlOf = (size: ThumbnailEdge) => pictureUrl(asset, size, { connection, fit: fit === "contain" ? undefined : "fill" });
  return (
    <span className={cn("relative block aspect-[4/3] w-full", className)}>
      {mayHavePreview && isAsked ? (
        <Picture
          src={urlOf(edge)}
          srcSet={edge < 1024 ? `${urlOf(edge)} 1x, ${urlOf(doubled[edge])} 2x` : undefined}
          alt={alt}
          width={320}
          height={240}
          eager={eager}
          fit={fit}
          instead={plate}
          className="absolute inset-0 size-full"
        />
      ) : null}
      {mayHavePreview && !isAsked ? <span className="absolute inset-0 rounded-sm bg-sunken" /> : null}
      {mayHavePreview ? null : plate}
      {mayHavePreview && asset.kind !== "image" && !isPlain ? (
        <span className="absolute right-1.5 bottom-1.5 flex [.plate+&]:hidden items-center gap-1 rounded-sm bg-ink/85 px-1.5 py-0.5 text-xs text-bg">
          <KindIcon kind={asset.kind} className="size-3" />
          {extension ?? <KindName kind={asset.kind} />}
        </span>
      ) : null}
    </span>
  );
}

function KindName({ kind }: { kind: AssetView["kind"] }) {
  return useTranslations("assets.kind")(kind);
}
