import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const root = fileURLToPath(new URL(".", import.meta.url));

const project = (name: string, own: object) => ({ extends: true as const, test: { name, environment: "node", ...own } });
/** Throws for a missing file, because Vitest ignores patterns without matches. */
function testFile(path: string): string {
  if (!existsSync(`${root}${path}`)) throw new Error(`${path} is missing. Update vitest.config.ts.`);
  return path;
}

/** Tests that need PostgreSQL, and the store tests once more. They share one server: `inject("postgres")`. */
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
/** Tests the packed console. */
const installed = testFile("tests/integration/operations/installed.test.ts");
/** Component tests, in one jsdom page for all files of a worker. */
const screens = {
  environment: "jsdom",
  include: ["tests/**/*.test.tsx"],
  setupFiles: ["tests/support/own-page.ts", "tests/support/mock-navigation.ts", "tests/support/mock-live.ts"],
};

/** Starts with the fault tests, which mostly wait, then the largest files. */
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
    // A process per file would load every package again, which takes longer than the tests. own-modules resets the project's modules.
    isolate: false,
    // More workers than cores, because some tests mostly wait.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: WaitingFirst },
    setupFiles: ["tests/support/own-modules.ts", "tests/support/fail-on-console-error.ts"],
    // next-auth and next-intl import next's entry points without extensions, which only the bundler resolves. swr caches responses, so it
    // is reset for each file like the project's modules.
    server: { deps: { inline: ["next-auth", "next-intl", "swr"] } },
    // Long, because a busy machine starts processes slowly.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // Few projects, because each transforms every module again.
    projects: [
      project("tests", {
        include: ["tests/{unit,integration,contract,faults}/**/*.test.ts"],
        exclude: ["tests/*/postgres/**", installed],
      }),
      project("screens", screens),
      project("postgres", onPostgres),
      // Needs the build with a base path, which bin/test.mjs makes at the same time.
      project("installed", { include: [installed] }),
    ],
  },
});
