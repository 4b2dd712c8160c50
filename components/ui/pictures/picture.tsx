import { AudioLines, Film, ImageOff } from "lucide-react";
import { useTranslations } from "next-intl";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { TOO_LARGE_HEADER } from "@/lib/shared/picture-size";
import { cn } from "../cn";
import { queueImage, retryLostPictures } from "./plain-picture";

const MIN_TEXT_WIDTH = 200;

type PictureProps = {
  src?: string;
  /** The same picture for screens with more pixels. */
  srcSet?: string;
  /** The picture's content; empty if the adjacent text already describes it. */
  alt: string;
  width: number;
  height: number;
  /** Loads immediately instead of when scrolled into view. */
  eager?: boolean;
  fit?: "cover" | "contain";
  /** The file's kind. Its icon replaces a missing picture of a video or audio file. */
  kind?: string;
  /** Shown instead if the picture fails to load. */
  fallback?: (address: string) => ReactNode;
  className?: string;
};

/**
 * An <img> with reserved space. If it fails to load, a placeholder of the same size is shown, and the picture is retried.
 */
export function Picture({ src, srcSet, alt, width, height, eager = false, fit = "cover", kind, fallback, className }: PictureProps) {
  const [lostPicture, setLost] = useState<{ src: string; address: string }>();
  const attach = useCallback(
    (image: HTMLImageElement | null) => {
      if (!image || src === undefined) return;
      // An image in the first HTML may have failed before hydration.
      if (image.complete && image.naturalWidth === 0 && image.currentSrc) setLost({ src, address: image.currentSrc });
      return queueImage(image, eager || typeof IntersectionObserver === "undefined" ? undefined : whileNear);
    },
    [src, eager],
  );
  const lostAddress = lostPicture?.src === src ? lostPicture?.address : undefined;
  useEffect(() => (lostAddress === undefined ? undefined : retryLostPictures(lostAddress, () => setLost(undefined))), [lostAddress]);
  if (fallback && src && src === lostPicture?.src) return fallback(lostPicture.address);
  if (!src) return <Placeholder {...{ alt, width, height, className }} />;
  if (src === lostPicture?.src) return <LostPicture {...{ alt, width, height, className }} kind={kind} address={lostPicture.address} />;
  return (
    <img
      // With a reused element, the previous picture would be shown until the new one loads.
      key={src.replace(/\bedge=\d+/, "")}
      ref={attach}
      src={src}
      srcSet={srcSet}
      alt={alt}
      width={width}
      height={height}
      loading={eager ? "eager" : "lazy"}
      decoding="async"
      onError={({ currentTarget: { currentSrc } }) => setLost({ src, address: currentSrc || src })}
      className={cn("picture", fit === "contain" && "object-contain", className)}
    />
  );
}

type PlaceholderProps = Pick<PictureProps, "alt" | "width" | "height" | "className"> & { title?: string; children?: ReactNode };

function Placeholder({ alt, width, height, title, className, children }: PlaceholderProps) {
  return (
    <span
      role={alt ? "img" : undefined}
      aria-label={[alt, title].filter(Boolean).join(". ") || undefined}
      aria-hidden={alt ? undefined : true}
      title={title}
      // The picture's own aspect ratio, for a fluid width with matching height.
      style={{ aspectRatio: `${width} / ${height}` }}
      className={cn("picture", className)}
    >
      {children}
    </span>
  );
}

function getKindIcon(kind: string | undefined): ReactNode {
  if (kind === "video") return <Film aria-hidden="true" className="size-4" />;
  if (kind === "audio") return <AudioLines aria-hidden="true" className="size-4" />;
  return <ImageOff aria-hidden="true" className="size-4" />;
}

function LostPicture({ address, kind, ...box }: PlaceholderProps & { kind: string | undefined; address: string }) {
  const t = useTranslations("common");
  const reason = useLostReason(address);
  const reasonText = typeof reason === "object" ? t("tooLarge", reason) : undefined;
  return (
    <Placeholder {...box} title={reasonText}>
      {reasonText && box.width >= MIN_TEXT_WIDTH ? <span className="px-2 text-center text-sm">{reasonText}</span> : getKindIcon(kind)}
    </Placeholder>
  );
}

type LostReason = "none" | { width: number; height: number };

/** Why the picture can't be shown: missing, or too large to preview. Uses the cached response. */
export function useLostReason(address: string | undefined): LostReason | undefined {
  const [result, setResult] = useState<{ address: string; reason: LostReason }>();
  useEffect(() => {
    if (address === undefined) return;
    let isNeeded = true;
    fetch(address, { cache: "only-if-cached", mode: "same-origin" }).then(
      ({ status, headers }) => {
        if (!isNeeded || status !== 204) return;
        const [width = 0, height = 0] = headers.get(TOO_LARGE_HEADER)?.split("x").map(Number) ?? [];
        setResult({ address, reason: width > 0 && height > 0 ? { width, height } : "none" });
      },
      // Not cached: the picture failed for another reason.
      () => undefined,
    );
    return () => void (isNeeded = false);
  }, [address]);
  return result?.address === address ? result?.reason : undefined;
}

const nearListeners = new WeakMap<Element, (isNear: boolean) => void>();
let observer: IntersectionObserver | undefined;

function whileNear(image: HTMLImageElement, report: (isNear: boolean) => void): () => void {
  nearListeners.set(image, report);
  observer ??= new IntersectionObserver(onIntersections, { rootMargin: "600px" });
  observer.observe(image);
  return () => {
    observer?.unobserve(image);
    nearListeners.delete(image);
  };
}

function onIntersections(entries: IntersectionObserverEntry[]): void {
  const awayPx = ({ top, bottom }: DOMRectReadOnly) => Math.max(0, -bottom, top - window.innerHeight);
  entries.sort((entry, other) => awayPx(entry.boundingClientRect) - awayPx(other.boundingClientRect));
  for (const { target, isIntersecting } of entries) nearListeners.get(target)?.(isIntersecting);
}

/** For the `ref` of an image. Images removed from the page stop loading. */
export function whileShown(image: HTMLImageElement | null): () => void {
  const dropped = image?.dataset.dropped;
  if (image && dropped !== undefined && !image.hasAttribute("src")) image.src = dropped;
  return () => {
    if (!image || image.complete) return;
    image.dataset.dropped = image.src;
    image.removeAttribute("src");
  };
}
