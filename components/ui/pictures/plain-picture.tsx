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
 * For long lists: the same box, without state. A picture that fails to load is marked, and the stylesheet draws the placeholder. Not lazy,
 * as such a list renders only what is near.
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
      // Otherwise React preloads the first pictures before styles and scripts, which delays the list.
      fetchPriority="low"
      className={cn("picture", className)}
    />
  );
}

/** The same as `attach` of a Picture. */
function watch(image: HTMLImageElement): () => void {
  let giveUp: (() => void) | undefined;
  const lose = () => {
    image.dataset.lost = "";
    giveUp?.();
    giveUp = retryLostPictures(image.currentSrc || image.src, comeBack);
  };
  const comeBack = () => {
    delete image.dataset.lost;
    const src = image.getAttribute("src") ?? "";
    leave();
    image.removeAttribute("src");
    image.setAttribute("src", src);
    leave = inTurn(image);
  };
  if (image.complete && image.naturalWidth === 0 && image.currentSrc) lose();
  let leave = inTurn(image);
  image.addEventListener("error", lose);
  return () => {
    image.removeEventListener("error", lose);
    giveUp?.();
    leave();
  };
}

// Limits which pictures of this tab load at a time: only a few while none arrives, so that pictures which never arrive leave connections
// for the page itself. Guarantees: a picture that is removed or far from view gives up its turn; a waiting one has no address and so does
// not load.

/** More than the six connections that a browser opens per host, so that it always has the next picture and can prefer visible ones. */
const MAX_COUNT = 24;
/** Used while no pictures arrive, so that the page's own requests are answered. */
const MAX_WHILE_NONE_COMES = 4;
const NONE_COMES_MS = 1_000;

const underWay = new Set<HTMLImageElement>();
let timer: ReturnType<typeof setTimeout> | undefined;
let noneComes = false;
const waiting = new Set<HTMLImageElement>();
const addresses = new WeakMap<HTMLImageElement, { src: string; srcset: string }>();

/** Reports whether an image is near the visible part; returns a function that stops it. */
type WhileNear = (image: HTMLImageElement, report: (isNear: boolean) => void) => () => void;

/** For the `ref` of an image; returns a function that ends it. Without `whileNear` it counts as near. */
export function inTurn(image: HTMLImageElement, whileNear?: WhileNear): () => void {
  const leave = () => {
    waiting.delete(image);
    if (underWay.delete(image)) next();
  };
  const onLoaded = () => {
    wait();
    leave();
  };
  const come = (isNear: boolean) => {
    if (image.complete && image.hasAttribute("src")) return;
    if (!isNear) takeAway(image);
    if (!isNear) return leave();
    if (underWay.has(image) || waiting.has(image)) return;
    if (underWay.size >= maxLoading()) takeAway(image);
    waiting.add(image);
    next();
  };
  // Restores the address that detaching removed: React's strict mode attaches twice.
  putBack(image);
  // A new image doesn't load before it is near the view.
  if (whileNear && !image.currentSrc) takeAway(image);
  image.addEventListener("load", onLoaded);
  image.addEventListener("error", leave);
  const unwatch = whileNear?.(image, come);
  if (!whileNear) come(true);
  return () => {
    unwatch?.();
    image.removeEventListener("load", onLoaded);
    image.removeEventListener("error", leave);
    // An image removed from the page would otherwise load to its end.
    if (!image.complete) takeAway(image);
    leave();
  };
}

const maxLoading = () => (noneComes ? MAX_WHILE_NONE_COMES : MAX_COUNT);

function next(): void {
  for (const image of waiting) {
    if (underWay.size >= maxLoading()) return;
    if (underWay.size === 0) wait();
    waiting.delete(image);
    underWay.add(image);
    putBack(image);
  }
}

/** Counts from the newest picture that arrived, or from the first request. */
function wait(): void {
  noneComes = false;
  clearTimeout(timer);
  timer = setTimeout(askForFewer, NONE_COMES_MS);
}

/** The newest of the surplus pictures wait again, ahead of those already waiting. */
function askForFewer(): void {
  noneComes = underWay.size > 0;
  const later = [...waiting];
  waiting.clear();
  for (const image of [...underWay].slice(MAX_WHILE_NONE_COMES)) {
    underWay.delete(image);
    takeAway(image);
    waiting.add(image);
  }
  for (const image of later) waiting.add(image);
}

function takeAway(image: HTMLImageElement): void {
  if (!image.hasAttribute("src")) return;
  addresses.set(image, { src: image.getAttribute("src") ?? "", srcset: image.srcset });
  image.removeAttribute("srcset");
  image.removeAttribute("src");
}

/** Does nothing if it has another address by now. */
function putBack(image: HTMLImageElement): void {
  const address = addresses.get(image);
  addresses.delete(image);
  if (!address || image.hasAttribute("src")) return;
  if (address.srcset) image.srcset = address.srcset;
  image.src = address.src;
}

/** The code that requests it again loads with the first lost picture. */
export function retryLostPictures(address: string, back: () => void): () => void {
  let giveUp: (() => void) | undefined;
  let isOver = false;
  import("./picture-retries").then(
    (module) => isOver || (giveUp = module.retryLostPictures(address, back)),
    // The console is unreachable: reloading the page will restore its pictures as well.
    () => undefined,
  );
  return () => {
    isOver = true;
    giveUp?.();
  };
}
