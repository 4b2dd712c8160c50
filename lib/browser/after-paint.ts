// Runs work once the page has shown what it last drew.
// Guarantees: `act` runs once, after the browser was given a frame to paint; on a hidden page it does not wait for one.
// Must never: carry out a write. It is for work that would only delay the reaction to a press.

export function afterPaint(act: () => void): void {
  if (document.visibilityState === "hidden") return void setTimeout(act);
  // A task after the frame's own callbacks, since styles, layout and paint follow those.
  requestAnimationFrame(() => setTimeout(act));
}
