// Which pictures of this tab are fetched now: few while none comes, so that pictures which never come leave connections to the page itself.
// Guarantees: whoever is gone, or not near what is seen, gives its turn back; one that waits has no address, so that nothing fetches it.

/** More than the six connections that a browser opens to a host: it has the next one ready, and prefers what is in view. */
const MOST = 24;
/** While none comes, so that the page itself is answered meanwhile. */
const MOST_WHILE_NONE_COMES = 4;
const NONE_COMES_MS = 1_000;

const underWay = new Set<HTMLImageElement>();
let timer: ReturnType<typeof setTimeout> | undefined;
let noneComes = false;
const waiting = new Set<HTMLImageElement>();
const addresses = new WeakMap<HTMLImageElement, { src: string; srcset: string }>();

/** Tells whether an image is near what is seen; returns how to end that. */
type WhileNear = (image: HTMLImageElement, tell: (isNear: boolean) => void) => () => void;

/** For the `ref` of an image; returns how to end it. Without `whileNear` it counts as near. */
export function inTurn(image: HTMLImageElement, whileNear?: WhileNear): () => void {
  const leave = () => {
    waiting.delete(image);
    if (underWay.delete(image)) next();
  };
  const came = () => {
    wait();
    leave();
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
  // One that is just being made is not fetched before it is known to be near.
  if (whileNear && !image.currentSrc) takeAway(image);
  image.addEventListener("load", came);
  image.addEventListener("error", leave);
  const unwatch = whileNear?.(image, come);
  if (!whileNear) come(true);
  return () => {
    unwatch?.();
    image.removeEventListener("load", came);
    image.removeEventListener("error", leave);
    // One that is gone from the page would still be fetched to its end.
    if (!image.complete) takeAway(image);
    leave();
  };
}

const most = () => (noneComes ? MOST_WHILE_NONE_COMES : MOST);

function next(): void {
  for (const image of waiting) {
    if (underWay.size >= most()) return;
    if (underWay.size === 0) wait();
    waiting.delete(image);
    underWay.add(image);
    putBack(image);
  }
}

/** From the newest that came, or from the first that is asked for. */
function wait(): void {
  noneComes = false;
  clearTimeout(timer);
  timer = setTimeout(askForFewer, NONE_COMES_MS);
}

/** The newest of those that are too many wait again, before those that waited already. */
function askForFewer(): void {
  noneComes = underWay.size > 0;
  const later = [...waiting];
  waiting.clear();
  for (const image of [...underWay].slice(MOST_WHILE_NONE_COMES)) {
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
    // Nothing comes from this console any more: a page that is loaded again has its pictures, too.
    () => undefined,
  );
  return () => {
    isOver = true;
    giveUp?.();
  };
}
