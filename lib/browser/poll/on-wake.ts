// Tells when the machine has slept: its clock has jumped, and nothing that was due in between has happened.
// Guarantees: one timer for all who want to know, none while there are none; of several who ask for the same thing only one is told.

const LOOK_MS = 2_000;
/** A busy or a throttled page looks late, too; one more question harms nothing. */
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
