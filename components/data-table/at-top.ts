// Whether the page is at its top. The scroll position is read when it changes, not when it is asked for: reading it during rendering would
// force a layout of the page.
const TOP_PX = 40;

let isHere = true;
const listeners = new Set<() => void>();

function look(): void {
  const next = window.scrollY < TOP_PX;
  if (next === isHere) return;
  isHere = next;
  for (const notify of listeners) notify();
}

export function subscribeToTop(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) window.addEventListener("scroll", look, { passive: true });
  look();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener("scroll", look);
  };
}

/** As of the page's last scroll; valid only while there is a subscriber. */
export function isAtTop(): boolean {
  return isHere;
}
