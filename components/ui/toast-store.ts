import { createStore } from "zustand/vanilla";
import { type Tone } from "./status-badge";

export type Toast = { id: number; tone: Tone; text: string; action?: { label: string; run: () => void } };

const DURATION_MS = 6_000;
let lastId = 0;
const timers = new Map<number, ReturnType<typeof setTimeout>>();
let isPaused = false;
/** The visible toasts. Empty on the server. */
export const toastStore = createStore<readonly Toast[]>(() => []);

/** Shows the result of an action for a few seconds. Important messages belong on the page instead. */
export function showToast(toast: Omit<Toast, "id">): void {
  const id = ++lastId;
  toastStore.setState((toasts) => [...toasts.slice(-2), { ...toast, id }], true);
  if (!isPaused) scheduleDismiss(id);
}

export function dismissToast(id: number): void {
  clearTimeout(timers.get(id));
  timers.delete(id);
  toastStore.setState((toasts) => toasts.filter((toast) => toast.id !== id), true);
  // A toast that is removed while hovered fires no leave event.
  setToastsPaused(false);
}

/** Pauses all toasts while one is hovered or focused. Restarts their timers afterwards. */
export function setToastsPaused(shouldPause: boolean): void {
  if (shouldPause === isPaused) return;
  isPaused = shouldPause;
  for (const timer of timers.values()) clearTimeout(timer);
  timers.clear();
  if (!shouldPause) for (const { id } of toastStore.getState()) scheduleDismiss(id);
}

function scheduleDismiss(id: number): void {
  timers.set(
    id,
    setTimeout(() => dismissToast(id), DURATION_MS),
  );
}
