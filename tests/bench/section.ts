// One section of `npm run bench`: its name on the command line and what it prints. tests/bench/main.ts lists them all. A section
// starts what it needs and stops it again; sections share only the folders of many-jobs.ts.
export type Section = {
  name: string;
  /** Takes so much time or disk that it runs only when requested by name. */
  isOnDemand?: true;
  measure(report: Report): Promise<void>;
};

export type Report = {
  /** Markdown: the result. */
  print(markdown: string): void;
  /** Progress. */
  logProgress(text: string): void;
};
