// How long work reports its progress, and learns that it has to end.

/** Called about once per row with the part done, 0 to 1. It may throw, which ends the kernel: this is how a cancel gets in. */
export type Tick = (done: number) => void;

/** Ticks for `count` pieces of work in a row: together they go from 0 to 1 once. */
export function stages(tick: Tick, count: number): () => Tick {
  let begun = 0;
  return () => {
    const before = begun++;
    return (done) => tick((before + done) / count);
  };
}
