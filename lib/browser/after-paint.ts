// When the page has shown what it last drew.
// Guarantees: `act` runs once, after the browser was given a frame to paint; a hidden page is not waited for.
// Must never: be what a write depends on. It is for work that would only hold up the answer to a press.

export function afterPaint(act: () => void): void {
  if (document.visibilityState === "hidden") return void setTimeout(act);
  // The task after a frame's own, since styles, layout and paint follow its callbacks.
  requestAnimationFrame(() => setTimeout(act));
}
