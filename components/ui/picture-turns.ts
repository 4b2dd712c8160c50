// Which pictures of this tab are fetched now: few while one is late, so that pictures which never come leave connections to the page itself.
// Guarantees: whoever is gone, or not near what is seen, gives its turn back; one that waits has no address, so that nothing fetches it.

/** More than the six connections that a browser opens to a host: it has the next one ready, and prefers what is in view. */
const MOST = 24;
/** While one of them is late, so that the page itself is answered meanwhile. */
const MOST_BESIDE_LATE = 4;
const LATE_MS = 1_000;

const underWay = new Map<HTMLImageElement, ReturnType<typeof setTimeout>>();
const late = new Set<HTMLImageElement>();
const waiting = new Set<HTMLImageElement>();
const addresses = new WeakMap<HTMLImageElement, { src: string; srcset: string }>();

/** Tells whether an image is near what is seen; returns how to end that. */
type WhileNear = (image: HTMLImageElement, tell: (isNear: boolean) => void) => () => void;

/** For the `ref` of an image; returns how to end it. Without `whileNear` it counts as near. */
export function inTurn(image: HTMLImageElement, whileNear?: WhileNear): () => void {
  const leave = () => {
    waiting.delete(image);
    if (end(image)) next();
  };
  const come = (isNear: boolean) => {
    if (image.complete && image.hasAttribute("src")) return;
    if (!isNear) takeAway(image);
    if (!isNear) return leave();
    if (underWay.has(image) || waiting.has(image)) return;
    if (underWay.size >= most()) takeAway(image);
    waiting.add(image);
    next();
  };
  // What a detaching took away: React's strict mode attaches twice.
  putBack(image);
  image.addEventListener("load", leave);
  image.addEventListener("error", leave);
  const unwatch = whileNear?.(image, come);
  if (!whileNear) come(true);
  return () => {
    unwatch?.();
    image.removeEventListener("load", leave);
    image.removeEventListener("error", leave);
    // One that is gone from the page would be fetched to its end all the same.
    if (!image.complete) takeAway(image);
    leave();
  };
}

const most = () => (late.size > 0 ? MOST_BESIDE_LATE : MOST);

function next(): void {
  for (const image of waiting) {
    if (underWay.size >= most()) return;
    waiting.delete(image);
    underWay.set(
      image,
      setTimeout(() => isLate(image), LATE_MS),
    );
    putBack(image);
  }
}

/** False where it was not under way. */
function end(image: HTMLImageElement): boolean {
  clearTimeout(underWay.get(image));
  late.delete(image);
  return underWay.delete(image);
}

/** The newest of those that are too many wait again. */
function isLate(image: HTMLImageElement): void {
  late.add(image);
  for (const one of [...underWay.keys()].slice(MOST_BESIDE_LATE)) {
    end(one);
    takeAway(one);
    waiting.add(one);
  }
}

function takeAway(image: HTMLImageElement): void {
  if (!image.hasAttribute("src")) return;
  addresses.set(image, { src: image.getAttribute("src") ?? "", srcset: image.srcset });
  image.removeAttribute("srcset");
  image.removeAttribute("src");
}

/** Unless it has got another one meanwhile. */
function putBack(image: HTMLImageElement): void {
  const address = addresses.get(image);
  addresses.delete(image);
  if (!address || image.hasAttribute("src")) return;
  if (address.srcset) image.srcset = address.srcset;
  image.src = address.src;
}

/** What asks for it again comes with the first one that is lost. */
export function watchLost(address: string, back: () => void): () => void {
  let giveUp: (() => void) | undefined;
  let isOver = false;
  import("./lost-pictures").then(
    (lost) => isOver || (giveUp = lost.watchLost(address, back)),
    // Nothing comes from this console any more: a page that is loaded anew has its pictures, too.
    () => undefined,
  );
  return () => {
    isOver = true;
    giveUp?.();
  };
}
