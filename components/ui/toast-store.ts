import { type Tone } from "./tone";

export type Toast = { id: number; tone: Tone; text: string; action?: { label: string; run: () => void } };

const SHOWN_MS = 6_000;
let toasts: readonly Toast[] = [];
let lastId = 0;
const timers = new Map<number, ReturnType<typeof setTimeout>>();
let isHeld = false;
const listeners = new Set<() => void>();

function replace(next: readonly Toast[]): void {
  toasts = next;
  for (const notify of listeners) notify();
}

/** The answer to an act, shown for a few seconds. What must not be missed belongs on the page instead. */
export function showToast(toast: Omit<Toast, "id">): void {
  const id = ++lastId;
  replace([...toasts.slice(-2), { ...toast, id }]);
  if (!isHeld) leaveLater(id);
}

export function dismissToast(id: number): void {
  clearTimeout(timers.get(id));
  timers.delete(id);
  replace(toasts.filter((toast) => toast.id !== id));
  if (toasts.length === 0) isHeld = false;
}

/** While somebody points at one of them or stands on its button, all stay; afterwards each has its whole time again. */
export function holdToasts(hold: boolean): void {
  if (hold === isHeld) return;
  isHeld = hold;
  for (const timer of timers.values()) clearTimeout(timer);
  timers.clear();
  if (!hold) for (const { id } of toasts) leaveLater(id);
}

function leaveLater(id: number): void {
  timers.set(
    id,
    setTimeout(() => dismissToast(id), SHOWN_MS),
  );
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
