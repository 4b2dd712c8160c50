import { type Tone } from "./tone";

export type Toast = { id: number; tone: Tone; text: string; action?: { label: string; run: () => void } };

const SHOWN_MS = 6_000;
let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function replace(next: readonly Toast[]): void {
  toasts = next;
  for (const notify of listeners) notify();
}

/** The answer to an act, shown for a few seconds. What must not be missed belongs on the page instead. */
export function showToast(toast: Omit<Toast, "id">): void {
  const id = ++lastId;
  replace([...toasts.slice(-2), { ...toast, id }]);
  setTimeout(() => dismissToast(id), SHOWN_MS);
}

export function dismissToast(id: number): void {
  replace(toasts.filter((toast) => toast.id !== id));
}

export function subscribeToToasts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function currentToasts(): readonly Toast[] {
  return toasts;
}

const noToasts: readonly Toast[] = [];
export function toastsOnServer(): readonly Toast[] {
  return noToasts;
}
