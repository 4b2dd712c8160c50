import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const root = fileURLToPath(new URL(".", import.meta.url));

const createProject = (name: string, options: object) => ({ extends: true as const, test: { name, environment: "node", ...options } });
/** Throws for a missing file, because Vitest ignores patterns without matches. */
function requireTestFile(path: string): string {
  if (!existsSync(`${root}${path}`)) throw new Error(`${path} is missing. Update vitest.config.ts.`);
  return path;
}

/** Tests that need PostgreSQL, and the store tests once more. They share one server: `inject("postgres")`. */
const postgresTests = {
  include: [
    "tests/{integration,faults}/postgres/**/*.test.ts",
    ...[
      ...["audit", "apps/apps.runs", "jobs/job-search", "jobs/run-times", "jobs/usage"],
      ...["people/members", "people/sign-out", "people/tokens", "shares/shares", "shares/shares.expired"],
    ].map((name) => requireTestFile(`tests/integration/console/${name}.test.ts`)),
    ...[
      ...["engine.races", "blob-leases", "retention", "users", "jobs.views", "jobs.cancel", "queue.manage"],
      ...["assets.change", "assets.create", "assets.search", "runners"],
    ].map((name) => requireTestFile(`tests/integration/service/${name}.test.ts`)),
    requireTestFile("tests/contract/openapi.contract.test.ts"),
  ],
  globalSetup: ["tests/support/postgres.ts"],
};
/** Tests the packed console. */
const installedTest = requireTestFile("tests/integration/operations/installed.test.ts");
/** Component tests. All files of a worker share one jsdom page. */
const screenTests = {
  environment: "jsdom",
  include: ["tests/**/*.test.tsx"],
  setupFiles: ["tests/support/reset-page.ts", "tests/support/mock-navigation.ts", "tests/support/mock-live.ts"],
};

/** Starts with the fault tests, which are mostly idle, then the largest files. */
class FaultTestsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const getRank = ({ moduleId }: TestSpecification) => Number(moduleId.includes("/tests/faults/"));
    return (await super.sort(files)).toSorted((file, otherFile) => getRank(otherFile) - getRank(file));
  }
}

export default defineConfig({
  resolve: { alias: { "@": root, "server-only": `${root}tests/support/empty.ts` } },
  test: {
    globalSetup: ["tests/support/bundle-workers.ts"],
    // A process per file would load every package again, which takes longer than the tests. isolate-modules.ts resets the project's modules.
    isolate: false,
    // More workers than cores, because some tests are mostly idle.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: FaultTestsFirst },
    setupFiles: ["tests/support/isolate-modules.ts", "tests/support/fail-on-console-error.ts"],
    // next-auth and next-intl import next's entry points without extensions, which only the bundler resolves. swr caches responses, so it
    // is reset for each file like the project's modules.
    server: { deps: { inline: ["next-auth", "next-intl", "swr"] } },
    // Long, because a busy machine starts processes slowly.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // Keeps compiled modules for the next run and for other projects. The cache is in node_modules and keyed by content.
    experimental: { fsModuleCache: true },
    // Few projects, because each transforms every module again.
    projects: [
      createProject("tests", {
        include: ["tests/{unit,integration,contract,faults}/**/*.test.ts"],
        exclude: ["tests/*/postgres/**", installedTest],
      }),
      createProject("screens", screenTests),
      createProject("postgres", postgresTests),
      // Needs the build with a base path, which bin/test.mjs creates at the same time.
      createProject("installed", { include: [installedTest] }),
    ],
  },
});
