"use client";

import { ImageOff } from "lucide-react";
import { useState } from "react";
import { cn } from "./cn";

type PictureProps = {
  src?: string;
  /** What the picture shows; empty where the words beside it already say so. */
  alt: string;
  width: number;
  height: number;
  /** Above the fold: fetched at once instead of when it scrolls into view. */
  eager?: boolean;
  fit?: "cover" | "contain";
  className?: string;
};

/** The one <img> of the house: its box stands before its bytes, and a placeholder takes the same box when they do not come. */
export function Picture({ src, alt, width, height, eager = false, fit = "cover", className }: PictureProps) {
  const [failedSrc, setFailedSrc] = useState<string>();
  if (!src || src === failedSrc) {
    return (
      <span
        role={alt ? "img" : undefined}
        aria-label={alt || undefined}
        aria-hidden={alt ? undefined : true}
        // The picture's own proportions, where the width is fluid and the height follows.
        style={{ aspectRatio: `${width} / ${height}` }}
        className={cn("picture", className)}
      >
        {src ? <ImageOff aria-hidden="true" className="size-4" /> : null}
      </span>
    );
  }
  return (
    <img
      ref={(image) => {
        // An image of the first HTML may have failed before React was there to hear of it.
        if (image?.complete && image.naturalWidth === 0 && image.currentSrc) setFailedSrc(src);
      }}
      src={src}
      alt={alt}
      width={width}
      height={height}
      loading={eager ? "eager" : "lazy"}
      decoding="async"
      onError={() => setFailedSrc(src)}
      className={cn("picture", fit === "contain" && "object-contain", className)}
    />
  );
}
