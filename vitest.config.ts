import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const root = fileURLToPath(new URL(".", import.meta.url));

const project = (name: string, own: object) => ({ extends: true as const, test: { name, environment: "node", ...own } });
/** One that is there: a pattern that finds nothing would leave it out without a word. */
function testFile(path: string): string {
  if (!existsSync(`${root}${path}`)) throw new Error(`${path} is not there: name the file as it is called now`);
  return path;
}

/** What needs PostgreSQL, and the console's and service's store tests once more: `inject("postgres")` is the one server of a run. */
const onPostgres = {
  include: [
    "tests/{integration,faults}/postgres/**/*.test.ts",
    ...[
      ...["audit", "apps/apps.runs", "jobs/job-search", "jobs/run-times", "jobs/usage"],
      ...["people/members", "people/sign-out", "people/tokens", "shares/shares", "shares/shares.expired"],
    ].map((name) => testFile(`tests/integration/console/${name}.test.ts`)),
    ...[
      ...["engine.moments", "blob-leases", "retention", "users", "jobs.views", "jobs.cancel", "queue.manage"],
      ...["assets.change", "assets.create", "assets.search"],
      ...["runners", "runners.faults", "runners.queued", "runners.refused"],
    ].map((name) => testFile(`tests/integration/service/${name}.test.ts`)),
    testFile("tests/contract/core.contract.test.ts"),
  ],
  globalSetup: ["tests/support/postgres.ts"],
};
/** What an operator installs. */
const installed = testFile("tests/integration/operations/installed.test.ts");
/** What is rendered: a page of jsdom, one for all files of a worker. */
const screens = {
  environment: "jsdom",
  include: ["tests/**/*.test.tsx"],
  setupFiles: ["tests/support/own-page.ts", "tests/support/mock-navigation.ts", "tests/support/mock-live.ts"],
};

/** Faults wait for processes and time limits, which is no matter as long as others compute; else the largest file first. */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const waits = ({ moduleId }: TestSpecification) => Number(moduleId.includes("/tests/faults/"));
    return (await super.sort(files)).toSorted((one, other) => waits(other) - waits(one));
  }
}

export default defineConfig({
  resolve: { alias: { "@": root, "server-only": `${root}tests/support/empty.ts` } },
  test: {
    globalSetup: ["tests/support/bundle-workers.ts"],
    // A process for each file would load every package again, which costs more than the tests: own-modules gives a file what it needs of its own.
    isolate: false,
    // Two more than there are cores: those that start processes, and wait for time limits, compute little.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: WaitingFirst },
    setupFiles: ["tests/support/own-modules.ts", "tests/support/fail-on-console-error.ts"],
    // next-auth and next-intl import next's entry points without extensions: they must pass through the bundler's resolver. swr caches
    // answers: it is loaded again for each file, as our own modules are.
    server: { deps: { inline: ["next-auth", "next-intl", "swr"] } },
    // A bound on what hangs, not on how fast a machine is: these start processes, and a busy machine starts them slowly.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // Each project transforms every module for itself, and has processes of its own: as few as differ in what they are run with.
    projects: [
      project("tests", {
        include: ["tests/{unit,integration,contract,faults}/**/*.test.ts"],
        exclude: ["tests/*/postgres/**", installed],
      }),
      project("screens", screens),
      project("postgres", onPostgres),
      // Needs the build below a path, which is made beside the others (bin/test.mjs).
      project("installed", { include: [installed] }),
    ],
  },
});
