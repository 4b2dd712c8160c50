// How long work tells how far it is, and hears that it shall end.

/** Called after a row or so with the part done, 0 to 1. It may throw, which ends the kernel: that is how a cancel gets in. */
export type Tick = (done: number) => void;

/** Ticks for `count` works that follow each other: together they go from 0 to 1 once. */
export function stages(tick: Tick, count: number): () => Tick {
  let begun = 0;
  return () => {
    const before = begun++;
    return (done) => tick((before + done) / count);
  };
}
