// Notices that the machine has slept: its clock has jumped, and timers that were due in between have not run.
// Guarantees: one timer for all listeners, none while there are none; of several listeners with the same `about` only one is called.

const LOOK_MS = 2_000;
/** A busy or throttled page seems to have slept, too; one more request does no harm. */
const ASLEEP_MS = 10_000;

const listeners = new Map<string, Set<() => void>>();
let timer: ReturnType<typeof setInterval> | undefined;
let lookedMs = 0;

function look(): void {
  const nowMs = Date.now();
  const sleptMs = nowMs - lookedMs;
  lookedMs = nowMs;
  if (sleptMs < ASLEEP_MS || document.visibilityState === "hidden") return;
  for (const [notify] of listeners.values()) notify?.();
}

/** `about` names what the listener does; returns how to stop. */
export function onWake(about: string, listener: () => void): () => void {
  const others = listeners.get(about) ?? new Set();
  listeners.set(about, others.add(listener));
  if (!timer) {
    lookedMs = Date.now();
    timer = setInterval(look, LOOK_MS);
  }
  return () => {
    others.delete(listener);
    if (others.size === 0) listeners.delete(about);
    if (listeners.size > 0 || !timer) return;
    clearInterval(timer);
    timer = undefined;
  };
}
