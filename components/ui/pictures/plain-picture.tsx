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
 * Renders a stateless picture for long lists. The stylesheet shows a placeholder if it fails to load. Not lazy, because such lists render only
 * nearby rows.
 */
export function renderPlainPicture({ src, width, height, kind, className }: PlainPictureProps): ReactNode {
  if (!src) return <span aria-hidden="true" className={cn("picture", className)} />;
  return (
    <img
      key={src}
      ref={attachImage}
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

/** Does the same as `attach` in `Picture`. */
function attachImage(image: HTMLImageElement): () => void {
  let cancelRetry: (() => void) | undefined;
  const handleError = () => {
    image.dataset.lost = "";
    cancelRetry?.();
    cancelRetry = retryFailedPicture(image.currentSrc || image.src, reload);
  };
  const reload = () => {
    delete image.dataset.lost;
    const src = image.getAttribute("src") ?? "";
    releaseSlot();
    image.removeAttribute("src");
    image.setAttribute("src", src);
    releaseSlot = queueImage(image);
  };
  if (image.complete && image.naturalWidth === 0 && image.currentSrc) handleError();
  let releaseSlot = queueImage(image);
  image.addEventListener("error", handleError);
  return () => {
    image.removeEventListener("error", handleError);
    cancelRetry?.();
    releaseSlot();
  };
}

// Limits how many pictures load at a time, so that connections remain for the page's own requests. While no picture finishes loading, the limit
// is lower. Removed or distant pictures release their slots. Queued pictures have no URL.

/** More than a browser's six connections per host, so that it can prioritize visible pictures. */
const MAX_LOADING_IMAGES = 24;
/** The limit while no picture finishes loading. */
const MAX_LOADING_WHILE_STALLED = 4;
const STALL_TIMEOUT_MS = 1_000;

const loadingImages = new Set<HTMLImageElement>();
let timer: ReturnType<typeof setTimeout> | undefined;
let isStalled = false;
const queuedImages = new Set<HTMLImageElement>();
const removedUrls = new WeakMap<HTMLImageElement, { src: string; srcset: string }>();

/** Reports whether an image is near the viewport. Returns a function that stops observing it. */
type ObserveNearby = (image: HTMLImageElement, onChange: (isNear: boolean) => void) => () => void;

/** A `ref` callback for images that returns a cleanup function. Without `observeNearby`, the image counts as near. */
export function queueImage(image: HTMLImageElement, observeNearby?: ObserveNearby): () => void {
  const releaseSlot = () => {
    queuedImages.delete(image);
    if (loadingImages.delete(image)) loadQueuedImages();
  };
  const onLoaded = () => {
    restartTimer();
    releaseSlot();
  };
  const setNear = (isNear: boolean) => {
    if (image.complete && image.hasAttribute("src")) return;
    if (!isNear) removeUrl(image);
    if (!isNear) return releaseSlot();
    if (loadingImages.has(image) || queuedImages.has(image)) return;
    if (loadingImages.size >= getMaxLoading()) removeUrl(image);
    queuedImages.add(image);
    loadQueuedImages();
  };
  // Restores the URL that detaching removed, since React's strict mode attaches twice.
  restoreUrl(image);
  // A new image doesn't load before it is near the viewport.
  if (observeNearby && !image.currentSrc) removeUrl(image);
  image.addEventListener("load", onLoaded);
  image.addEventListener("error", releaseSlot);
  const unwatch = observeNearby?.(image, setNear);
  if (!observeNearby) setNear(true);
  return () => {
    unwatch?.();
    image.removeEventListener("load", onLoaded);
    image.removeEventListener("error", releaseSlot);
    // Otherwise an image removed from the page would keep loading.
    if (!image.complete) removeUrl(image);
    releaseSlot();
  };
}

const getMaxLoading = () => (isStalled ? MAX_LOADING_WHILE_STALLED : MAX_LOADING_IMAGES);

function loadQueuedImages(): void {
  for (const image of queuedImages) {
    if (loadingImages.size >= getMaxLoading()) return;
    if (loadingImages.size === 0) restartTimer();
    queuedImages.delete(image);
    loadingImages.add(image);
    restoreUrl(image);
  }
}

/** Restarts the timer when a picture has loaded or the first request starts. */
function restartTimer(): void {
  isStalled = false;
  clearTimeout(timer);
  timer = setTimeout(reduceLoading, STALL_TIMEOUT_MS);
}

/** Requeues the newest pictures beyond the limit, ahead of those already queued. */
function reduceLoading(): void {
  isStalled = loadingImages.size > 0;
  const previouslyQueuedImages = [...queuedImages];
  queuedImages.clear();
  for (const image of [...loadingImages].slice(MAX_LOADING_WHILE_STALLED)) {
    loadingImages.delete(image);
    removeUrl(image);
    queuedImages.add(image);
  }
  for (const image of previouslyQueuedImages) queuedImages.add(image);
}

function removeUrl(image: HTMLImageElement): void {
  if (!image.hasAttribute("src")) return;
  removedUrls.set(image, { src: image.getAttribute("src") ?? "", srcset: image.srcset });
  image.removeAttribute("srcset");
  image.removeAttribute("src");
}

/** Restores the URL, unless the image has a new one. */
function restoreUrl(image: HTMLImageElement): void {
  const urls = removedUrls.get(image);
  removedUrls.delete(image);
  if (!urls || image.hasAttribute("src")) return;
  if (urls.srcset) image.srcset = urls.srcset;
  image.src = urls.src;
}

/** Retries a failed picture. The retry code is loaded on the first failure. */
export function retryFailedPicture(url: string, onAvailable: () => void): () => void {
  let cancelRetry: (() => void) | undefined;
  let isCancelled = false;
  import("./picture-retries").then(
    (module) => isCancelled || (cancelRetry = module.retryFailedPicture(url, onAvailable)),
    // The console is unreachable. Reloading the page restores its pictures.
    () => undefined,
  );
  return () => {
    isCancelled = true;
    cancelRetry?.();
  };
}
