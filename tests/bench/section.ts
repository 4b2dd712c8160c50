// A section of `npm run bench`. It starts and stops its own processes. Sections share only the folders of many-jobs.ts.
// tests/bench/main.ts lists all sections.
export type Section = {
  /** The name on the command line. */
  name: string;
  /** Runs only when requested by name, since it takes much time or disk space. */
  isOnDemand?: true;
  measure(report: Report): Promise<void>;
};

export type Report = {
  /** Prints results as Markdown. */
  print(markdown: string): void;
  logProgress(text: string): void;
};
