import { AudioLines, Box, File as FileIcon, FileText, Film, Image as ImageIcon, type LucideIcon } from "lucide-react";
import { useTranslations } from "next-intl";
import { type ReactNode, type Ref, useEffect, useRef, useState } from "react";
import { cn } from "@/components/ui/cn";
import { Picture, useFailureReason } from "@/components/ui/pictures/picture";
import { type ThumbnailSize } from "@/lib/browser/urls";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type FileKind, getKindByName, getMediaKind } from "@/lib/contract/views/outputs-view";
import { getAssetThumbnailUrl } from "./asset-api";
import { type ScrollMotion } from "./gallery/scroll-motion";

type AssetThumbnailProps = {
  asset: AssetView;
  connection?: string;
  edge: ThumbnailSize;
  alt: string;
  /** False while scrolling, which renders an empty box. */
  shouldLoad?: boolean;
  /** Shows the kind of file only as an icon. */
  isPlain?: boolean;
  eager?: boolean;
  fit?: "cover" | "contain";
  className?: string;
  ref?: Ref<HTMLSpanElement>;
};

/** Formats that every browser and the console can decode. */
const decodableFormats = /\.(png|jpe?g|webp|gif)$/i;
const retinaEdges = { 128: 256, 256: 512, 512: 1024, 1024: 1024 } as const;

/** The preview, or a placeholder of the same size. Requests nothing for files that can't have a preview. */
export function AssetThumbnail({
  asset,
  connection,
  edge,
  alt,
  shouldLoad = true,
  isPlain = false,
  eager,
  fit,
  className,
  ref,
}: AssetThumbnailProps) {
  const mayHavePreview = asset.kind === "image" || asset.kind === "video" || asset.previewUrl !== undefined;
  const typeLabel = getExtension(asset) ?? <KindName kind={asset.kind} />;
  const placeholder = { kind: asset.kind, content: typeLabel, alt, isPlain };
  const getUrl = (size: ThumbnailSize) => getAssetThumbnailUrl(asset, size, { connection, fit: fit === "contain" ? undefined : "fill" });
  return (
    <span ref={ref} className={cn("relative block aspect-[4/3] w-full", className)}>
      {mayHavePreview && shouldLoad ? (
        <Picture
          src={getUrl(edge)}
          srcSet={edge < 1024 ? `${getUrl(edge)} 1x, ${getUrl(retinaEdges[edge])} 2x` : undefined}
          alt={alt}
          width={320}
          height={240}
          eager={eager}
          fit={fit}
          fallback={(src) => <FailedPlaceholder {...placeholder} src={src} isDecodable={decodableFormats.test(asset.name)} />}
          className="absolute inset-0 size-full"
        />
      ) : null}
      {mayHavePreview && !shouldLoad ? <span className="absolute inset-0 rounded-sm bg-sunken" /> : null}
      {mayHavePreview ? null : <Placeholder {...placeholder} />}
      {mayHavePreview && asset.kind !== "image" && !isPlain ? (
        <span className="absolute right-1.5 bottom-1.5 flex [.plate+&]:hidden items-center gap-1 rounded-sm bg-ink/85 px-1.5 py-0.5 text-xs text-bg">
          <KindIcon kind={asset.kind} className="size-3" />
          {typeLabel}
        </span>
      ) : null}
    </span>
  );
}

type PlaceholderProps = { kind: AssetView["kind"]; content: ReactNode; alt: string; isPlain: boolean };

function Placeholder({ kind, content, alt, isPlain }: PlaceholderProps) {
  return (
    <span
      role={alt ? "img" : undefined}
      aria-label={alt || undefined}
      className="plate absolute inset-0 grid place-items-center overflow-hidden rounded-sm border border-line bg-sunken text-ink-3"
    >
      <span className="flex max-w-full flex-col items-center gap-1.5">
        <KindIcon kind={kind} className={isPlain ? "size-4" : "size-6"} />
        <span className={isPlain ? "sr-only" : "max-w-full truncate px-1 text-sm"}>{content}</span>
      </span>
    </span>
  );
}

/** Replaces an image that failed to load, and shows the console's reason if there is one. */
function FailedPlaceholder({ src, isDecodable, ...placeholder }: PlaceholderProps & { src: string; isDecodable: boolean }) {
  const t = useTranslations("assets");
  const common = useTranslations("common");
  const reason = useFailureReason(src);
  const reasonText =
    typeof reason === "object" ? common("tooLarge", reason) : reason === "none" && isDecodable ? t("noPicture") : undefined;
  const content = reasonText ? <span className="block text-center whitespace-normal">{reasonText}</span> : placeholder.content;
  return <Placeholder {...placeholder} content={content} />;
}

function KindName({ kind }: { kind: AssetView["kind"] }) {
  return useTranslations("assets.kind")(kind);
}

type TileThumbnailProps = {
  asset: AssetView;
  connectionId?: string;
  edge: ThumbnailSize;
  fit?: "cover" | "contain";
  motion: ScrollMotion;
  /** True for tiles in the initial HTML, which load immediately. */
  isInitial: boolean;
  /** Shows the kind of file only as an icon. */
  isPlain?: boolean;
  className?: string;
};

/** Loads when its tile stays in view. Tiles that are scrolled past load nothing. */
export function TileThumbnail({ asset, connectionId, edge, fit, motion, isInitial, isPlain, className }: TileThumbnailProps) {
  const [shouldLoad, setShouldLoad] = useState(isInitial);
  const box = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (shouldLoad) return;
    const isInView = () => {
      const { top = 0, bottom = 0 } = box.current?.getBoundingClientRect() ?? {};
      return bottom > 0 && top < window.innerHeight;
    };
    return motion.onSettle(() => setShouldLoad(true), isInView);
  }, [shouldLoad, motion]);
  return (
    <AssetThumbnail
      ref={box}
      asset={asset}
      connection={connectionId}
      edge={edge}
      alt=""
      shouldLoad={shouldLoad}
      isPlain={isPlain}
      eager
      fit={fit}
      className={className}
    />
  );
}

const kindIcons: Readonly<Record<FileKind, LucideIcon>> = {
  image: ImageIcon,
  video: Film,
  audio: AudioLines,
  text: FileText,
  "3d": Box,
  file: FileIcon,
};

export function KindIcon({ kind, className }: { kind: FileKind; className?: string }) {
  const Icon = kindIcons[kind];
  return <Icon aria-hidden="true" strokeWidth={1.5} className={className} />;
}

// Names like "Sofa no.2" and "Portrait of J.Doe" have no extension. Digits alone don't count as one, and an unknown extension doesn't
// override a known media type.

const mediaKinds = new Set(["image", "video", "audio", "3d"]);

export function getExtension({ name, mimeType = "" }: Pick<AssetView, "name" | "mimeType">): string | undefined {
  const mediaKind = getMediaKind({ names: [], types: [mimeType] });
  const isKnownType = mediaKinds.has(mediaKind) && !/\/(x-|vnd\.)/i.test(mimeType);
  if (isKnownType && getKindByName(name) !== mediaKind) return undefined;
  return /\.(?=\d*[a-z])([a-z0-9]{1,11})$/i.exec(name)?.[1]?.toUpperCase();
}
