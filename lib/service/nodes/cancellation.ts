// How a cancel reaches a run: a flag that loops check, and a signal that waits listen to.

export class Cancelled extends Error {
  override name = "Cancelled";
}

export type Cancellation = {
  signal: AbortSignal;
  /** Throws if the run was cancelled. */
  check(): void;
  /** Call when the cancel message has arrived; the flag was set before. */
  cancel(): void;
};

export function createCancellation(flag: Int32Array): Cancellation {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    check() {
      if (Atomics.load(flag, 0) !== 0) throw new Cancelled("The job was cancelled.");
    },
    cancel: () => controller.abort(),
  };
}
