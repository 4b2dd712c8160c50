// Runs slow work after the next paint, so that a click gets feedback first. Don't use it for writes.

export function afterPaint(work: () => void): void {
  if (document.visibilityState === "hidden") return void setTimeout(work);
  // A new task, because style, layout and paint run after the frame's callbacks.
  requestAnimationFrame(() => setTimeout(work));
}
