// One line of the table that `npm run bench:service` prints, as each measurement hands it in.

export type BenchRow = {
  /** What was measured, and at what. */
  name: string;
  /** The figure to reach, in words. */
  target: string;
  /** The median, with its unit. */
  figure: string;
  /** Lowest and highest of the runs, or other percentiles; empty where there was one run. */
  spread: string;
  meets: boolean;
};
