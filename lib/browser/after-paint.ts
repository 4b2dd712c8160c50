// Runs work after the page has painted, such as work that would delay the reaction to a press. Never for a write.

export function afterPaint(act: () => void): void {
  if (document.visibilityState === "hidden") return void setTimeout(act);
  // A task after the frame's own callbacks, since styles, layout and paint follow those.
  requestAnimationFrame(() => setTimeout(act));
}
