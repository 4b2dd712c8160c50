import { ImageOff } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { cn } from "../cn";
import { inTurn, watchLost } from "./picture-turns";

type PictureProps = {
  src?: string;
  /** The same picture for screens with more pixels. */
  srcSet?: string;
  /** What the picture shows; empty if the text beside it already says so. */
  alt: string;
  width: number;
  height: number;
  /** Visible at once: loads immediately instead of when it scrolls into view. */
  eager?: boolean;
  fit?: "cover" | "contain";
  /** Shown instead if the picture cannot load. It may request the address to find out why. */
  instead?: (address: string) => ReactNode;
  className?: string;
};

/**
 * The one <img> of the interface: its box is there before its bytes, and a placeholder takes the same box if they do not arrive. It comes
 * back by itself when they do.
 */
export function Picture({ src, srcSet, alt, width, height, eager = false, fit = "cover", instead, className }: PictureProps) {
  const [lost, setLost] = useState<{ src: string; address: string }>();
  const attach = useCallback(
    (image: HTMLImageElement | null) => {
      if (!image || src === undefined) return;
      // An image in the first HTML may have failed before React was listening.
      if (image.complete && image.naturalWidth === 0 && image.currentSrc) setLost({ src, address: image.currentSrc });
      return inTurn(image, eager || typeof IntersectionObserver === "undefined" ? undefined : whileNear);
    },
    [src, eager],
  );
  const lostAddress = lost?.src === src ? lost?.address : undefined;
  useEffect(() => (lostAddress === undefined ? undefined : watchLost(lostAddress, () => setLost(undefined))), [lostAddress]);
  if (instead && src && src === lost?.src) return instead(lost.address);
  if (!src || src === lost?.src) {
    return (
      <span
        role={alt ? "img" : undefined}
        aria-label={alt || undefined}
        aria-hidden={alt ? undefined : true}
        // The picture's own proportions, for a fluid width with matching height.
        style={{ aspectRatio: `${width} / ${height}` }}
        className={cn("picture", className)}
      >
        {src ? <ImageOff aria-hidden="true" className="size-4" /> : null}
      </span>
    );
  }
  return (
    <img
      // An element with another address would show the picture before it until its own arrives.
      key={src}
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

const near = new WeakMap<Element, (isNear: boolean) => void>();
let observer: IntersectionObserver | undefined;

function whileNear(image: HTMLImageElement, tell: (isNear: boolean) => void): () => void {
  near.set(image, tell);
  observer ??= new IntersectionObserver(onIntersections, { rootMargin: "600px" });
  observer.observe(image);
  return () => {
    observer?.unobserve(image);
    near.delete(image);
  };
}

/** Visible pictures load before those above and below. */
function onIntersections(entries: IntersectionObserverEntry[]): void {
  const awayPx = ({ top, bottom }: DOMRectReadOnly) => Math.max(0, -bottom, top - window.innerHeight);
  entries.sort((one, other) => awayPx(one.boundingClientRect) - awayPx(other.boundingClientRect));
  for (const { target, isIntersecting } of entries) near.get(target)?.(isIntersecting);
}

/** For the `ref` of an image: an image removed from the page stops loading. */
export function whileShown(image: HTMLImageElement | null): () => void {
  const dropped = image?.dataset.dropped;
  if (image && dropped !== undefined && !image.hasAttribute("src")) image.src = dropped;
  return () => {
    if (!image || image.complete) return;
    image.dataset.dropped = image.src;
    image.removeAttribute("src");
  };
}
