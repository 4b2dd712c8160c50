import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL(".", import.meta.url));

const project = (name: string, extra: object = {}) => ({
  extends: true as const,
  test: { name, environment: "node", include: [`tests/${name}/**/*.test.{ts,tsx}`], ...extra },
});

export default defineConfig({
  resolve: { alias: { "@": root, "server-only": `${root}tests/support/empty.ts` } },
  test: {
    globalSetup: ["tests/support/bundle-workers.ts"],
    setupFiles: ["tests/support/fail-on-console-error.ts"],
    // next-auth and next-intl import next's entry points without extensions: they must pass through the bundler's resolver.
    server: { deps: { inline: ["next-auth", "next-intl"] } },
    // A bound on what hangs, not on how fast a machine is: these start processes, and a busy machine starts them slowly.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [project("unit"), project("integration"), project("contract"), project("faults")],
  },
});
