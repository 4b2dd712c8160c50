// Runs work after the page has painted, such as work that would delay the reaction to a press. Never for a write.

export function afterPaint(work: () => void): void {
  if (document.visibilityState === "hidden") return void setTimeout(work);
  // A task after the frame's own callbacks, since styles, layout and paint follow those.
  requestAnimationFrame(() => setTimeout(work));
}
