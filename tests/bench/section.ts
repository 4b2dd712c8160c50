// One section of `npm run bench`: its name on the command line and what it prints. tests/bench/main.ts lists them all. A section
// starts what it needs, stops it again, and shares nothing with another one but the folders of many-jobs.ts.
export type Section = {
  name: string;
  /** Takes so much time or disk that it runs only when it is asked for by name. */
  isOnDemand?: true;
  measure(report: Report): Promise<void>;
};

export type Report = {
  /** Markdown: what the person asked for. */
  print(markdown: string): void;
  /** What is going on meanwhile. */
  tell(text: string): void;
};
