import { type ReactNode } from "react";
import { cn } from "../cn";

type PlainPictureProps = {
  src?: string;
  width: number;
  height: number;
  /** The file's kind. Its icon replaces a missing picture of a video or audio file. */
  kind?: string;
  className?: string;
};

/**
 * A stateless picture for long lists. The stylesheet draws a placeholder if it fails to load. Not lazy, since such lists render only nearby
 * rows.
 */
export function plainPicture({ src, width, height, kind, className }: PlainPictureProps): ReactNode {
  if (!src) return <span aria-hidden="true" className={cn("picture", className)} />;
  return (
    <img
      key={src}
      ref={watch}
      src={src}
      alt=""
      width={width}
      height={height}
      decoding="async"
      data-kind={kind}
      // Without this, React preloads the first pictures before styles and scripts.
      fetchPriority="low"
      className={cn("picture", className)}
    />
  );
}

/** The same as `attach` of a Picture. */
function watch(image: HTMLImageElement): () => void {
  let giveUp: (() => void) | undefined;
  const handleError = () => {
    image.dataset.lost = "";
    giveUp?.();
    giveUp = retryLostPictures(image.currentSrc || image.src, reload);
  };
  const reload = () => {
    delete image.dataset.lost;
    const src = image.getAttribute("src") ?? "";
    leave();
    image.removeAttribute("src");
    image.setAttribute("src", src);
    leave = queueImage(image);
  };
  if (image.complete && image.naturalWidth === 0 && image.currentSrc) handleError();
  let leave = queueImage(image);
  image.addEventListener("error", handleError);
  return () => {
    image.removeEventListener("error", handleError);
    giveUp?.();
    leave();
  };
}

// Limits how many pictures of this tab load at a time, and to only a few while none arrives, so that connections remain for the page's own
// requests. Removed or distant pictures give up their slots; waiting ones have no URL.

/** More than a browser's six connections per host, so that it can prioritize visible pictures. */
const MAX_COUNT = 24;
/** The limit while no pictures arrive, so that the page's own requests get a connection. */
const MAX_WHILE_STALLED = 4;
const STALL_TIMEOUT_MS = 1_000;

const loadingImages = new Set<HTMLImageElement>();
let timer: ReturnType<typeof setTimeout> | undefined;
let isStalled = false;
const waiting = new Set<HTMLImageElement>();
const removedUrls = new WeakMap<HTMLImageElement, { src: string; srcset: string }>();

/** Reports whether an image is near the viewport. Returns a function that stops it. */
type WhileNear = (image: HTMLImageElement, report: (isNear: boolean) => void) => () => void;

/** For the `ref` of an image; returns its cleanup. Without `whileNear` the image counts as near. */
export function queueImage(image: HTMLImageElement, whileNear?: WhileNear): () => void {
  const leave = () => {
    waiting.delete(image);
    if (loadingImages.delete(image)) loadNext();
  };
  const onLoaded = () => {
    restartTimer();
    leave();
  };
  const setNear = (isNear: boolean) => {
    if (image.complete && image.hasAttribute("src")) return;
    if (!isNear) removeUrl(image);
    if (!isNear) return leave();
    if (loadingImages.has(image) || waiting.has(image)) return;
    if (loadingImages.size >= maxLoading()) removeUrl(image);
    waiting.add(image);
    loadNext();
  };
  // Restores the URL that detaching removed, since React's strict mode attaches twice.
  restoreUrl(image);
  // A new image doesn't load before it is near the viewport.
  if (whileNear && !image.currentSrc) removeUrl(image);
  image.addEventListener("load", onLoaded);
  image.addEventListener("error", leave);
  const unwatch = whileNear?.(image, setNear);
  if (!whileNear) setNear(true);
  return () => {
    unwatch?.();
    image.removeEventListener("load", onLoaded);
    image.removeEventListener("error", leave);
    // Otherwise an image removed from the page would keep loading.
    if (!image.complete) removeUrl(image);
    leave();
  };
}

const maxLoading = () => (isStalled ? MAX_WHILE_STALLED : MAX_COUNT);

function loadNext(): void {
  for (const image of waiting) {
    if (loadingImages.size >= maxLoading()) return;
    if (loadingImages.size === 0) restartTimer();
    waiting.delete(image);
    loadingImages.add(image);
    restoreUrl(image);
  }
}

/** Restarts the timer on each arrived picture or first request. */
function restartTimer(): void {
  isStalled = false;
  clearTimeout(timer);
  timer = setTimeout(reduceLoading, STALL_TIMEOUT_MS);
}

/** Requeues the newest surplus pictures, ahead of those already waiting. */
function reduceLoading(): void {
  isStalled = loadingImages.size > 0;
  const later = [...waiting];
  waiting.clear();
  for (const image of [...loadingImages].slice(MAX_WHILE_STALLED)) {
    loadingImages.delete(image);
    removeUrl(image);
    waiting.add(image);
  }
  for (const image of later) waiting.add(image);
}

function removeUrl(image: HTMLImageElement): void {
  if (!image.hasAttribute("src")) return;
  removedUrls.set(image, { src: image.getAttribute("src") ?? "", srcset: image.srcset });
  image.removeAttribute("srcset");
  image.removeAttribute("src");
}

/** Restores the URL, unless the image has another one by now. */
function restoreUrl(image: HTMLImageElement): void {
  const address = removedUrls.get(image);
  removedUrls.delete(image);
  if (!address || image.hasAttribute("src")) return;
  if (address.srcset) image.srcset = address.srcset;
  image.src = address.src;
}

/** The retry code loads with the first failed picture. */
export function retryLostPictures(address: string, back: () => void): () => void {
  let giveUp: (() => void) | undefined;
  let isOver = false;
  import("./picture-retries").then(
    (module) => isOver || (giveUp = module.retryLostPictures(address, back)),
    // The console is unreachable; reloading the page will restore its pictures.
    () => undefined,
  );
  return () => {
    isOver = true;
    giveUp?.();
  };
}
