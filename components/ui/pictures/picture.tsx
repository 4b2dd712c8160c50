import { AudioLines, Film, ImageOff } from "lucide-react";
import { useTranslations } from "next-intl";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { TOO_LARGE_HEADER } from "@/lib/shared/image-size";
import { cn } from "../cn";
import { queueImage, retryFailedPicture } from "./plain-picture";

const MIN_TEXT_WIDTH_PX = 200;

type PictureProps = {
  src?: string;
  /** The same picture for high-resolution screens. */
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
  /** Shown if the picture fails to load. */
  fallback?: (url: string) => ReactNode;
  className?: string;
};

/**
 * An <img> with reserved space. If it fails to load, a placeholder of the same size is shown, and loading is retried.
 */
export function Picture({ src, srcSet, alt, width, height, eager = false, fit = "cover", kind, fallback, className }: PictureProps) {
  const [failedPicture, setFailedPicture] = useState<{ src: string; url: string }>();
  const attach = useCallback(
    (image: HTMLImageElement | null) => {
      if (!image || src === undefined) return;
      // An image in the server's HTML may have failed before hydration.
      if (image.complete && image.naturalWidth === 0 && image.currentSrc) setFailedPicture({ src, url: image.currentSrc });
      return queueImage(image, eager || typeof IntersectionObserver === "undefined" ? undefined : observeNearby);
    },
    [src, eager],
  );
  const failedUrl = failedPicture?.src === src ? failedPicture?.url : undefined;
  useEffect(() => (failedUrl === undefined ? undefined : retryFailedPicture(failedUrl, () => setFailedPicture(undefined))), [failedUrl]);
  if (fallback && src && src === failedPicture?.src) return fallback(failedPicture.url);
  if (!src) return <Placeholder {...{ alt, width, height, className }} />;
  if (src === failedPicture?.src) return <FailedPicture {...{ alt, width, height, className }} kind={kind} url={failedPicture.url} />;
  return (
    <img
      // Without a key, the previous picture would be shown until the new one loads.
      key={src.replace(/\bedge=\d+/, "")}
      ref={attach}
      src={src}
      srcSet={srcSet}
      alt={alt}
      width={width}
      height={height}
      loading={eager ? "eager" : "lazy"}
      decoding="async"
      onError={({ currentTarget: { currentSrc } }) => setFailedPicture({ src, url: currentSrc || src })}
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

export function FailedPicture({ url, kind, ...placeholderProps }: PlaceholderProps & { kind: string | undefined; url: string }) {
  const t = useTranslations("common");
  const reason = useFailureReason(url);
  const reasonText = typeof reason === "object" ? t("tooLarge", reason) : undefined;
  return (
    <Placeholder {...placeholderProps} title={reasonText}>
      {reasonText && placeholderProps.width >= MIN_TEXT_WIDTH_PX ? (
        <span className="px-2 text-center text-sm">{reasonText}</span>
      ) : (
        getKindIcon(kind)
      )}
    </Placeholder>
  );
}

type FailureReason = "none" | { width: number; height: number };

/** Returns why the picture can't be shown: it is missing, or too large to preview. Reads the cached response. */
export function useFailureReason(url: string | undefined): FailureReason | undefined {
  const [result, setResult] = useState<{ url: string; reason: FailureReason }>();
  useEffect(() => {
    if (url === undefined) return;
    let isActive = true;
    fetch(url, { cache: "only-if-cached", mode: "same-origin" }).then(
      ({ status, headers }) => {
        if (!isActive || status !== 204) return;
        const [width = 0, height = 0] = headers.get(TOO_LARGE_HEADER)?.split("x").map(Number) ?? [];
        setResult({ url, reason: width > 0 && height > 0 ? { width, height } : "none" });
      },
      // The response is not cached, so the picture failed for another reason.
      () => undefined,
    );
    return () => void (isActive = false);
  }, [url]);
  return result?.url === url ? result?.reason : undefined;
}

const nearListeners = new WeakMap<Element, (isNear: boolean) => void>();
let observer: IntersectionObserver | undefined;

function observeNearby(image: HTMLImageElement, onChange: (isNear: boolean) => void): () => void {
  nearListeners.set(image, onChange);
  observer ??= new IntersectionObserver(onIntersections, { rootMargin: "600px" });
  observer.observe(image);
  return () => {
    observer?.unobserve(image);
    nearListeners.delete(image);
  };
}

function onIntersections(entries: IntersectionObserverEntry[]): void {
  const getDistancePx = ({ top, bottom }: DOMRectReadOnly) => Math.max(0, -bottom, top - window.innerHeight);
  entries.sort((entry, otherEntry) => getDistancePx(entry.boundingClientRect) - getDistancePx(otherEntry.boundingClientRect));
  for (const { target, isIntersecting } of entries) nearListeners.get(target)?.(isIntersecting);
}

/** A `ref` callback for images. Stops loading an image when it is removed from the page. */
export function stopLoadingOnRemoval(image: HTMLImageElement | null): () => void {
  const removedSrc = image?.dataset.dropped;
  if (image && removedSrc !== undefined && !image.hasAttribute("src")) image.src = removedSrc;
  return () => {
    if (!image || image.complete) return;
    image.dataset.dropped = image.src;
    image.removeAttribute("src");
  };
}
