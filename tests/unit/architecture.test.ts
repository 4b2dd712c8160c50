import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { findCycles, runDependencyCruiser } from "../support/cruise";

const root = fileURLToPath(new URL("../..", import.meta.url));
const rules: { forbidden: { name: string }[]; required: { name: string }[] } = createRequire(import.meta.url)(
  "../../.dependency-cruiser.cjs",
);

test("finds no import violations in the source code", { timeout: 240_000 }, async () => {
  const { totalCruised, violations, modules } = await runDependencyCruiser(root, ["app", "bin", "components", "lib", "tests"]);
  expect(violations.map((violation) => `${violation.rule.name}: ${violation.from} -> ${violation.to}`)).toEqual([]);
  expect(totalCruised).toBeGreaterThan(400);
  expect(findCycles("lib/server", modules)).toEqual([]);
  expect(findCycles("lib/service", modules)).toEqual([]);
});

/** Files that each break one or more rules. */
const violatingFiles: Record<string, string> = {
  "tsconfig.json": '{ "compilerOptions": { "module": "esnext", "moduleResolution": "bundler", "paths": { "@/*": ["./*"] } } }',
  "node_modules/next/package.json": '{ "name": "next", "version": "1.0.0", "main": "index.js" }',
  "node_modules/next/index.js": "",
  "app/page.ts": 'import "@/lib/service/index";',
  "app/api/route.ts": 'import "@/components/jobs/table";',
  "bin/tool.ts": 'import "@/components/ui/button"; import "@/app/page";',
  "components/ui/button.ts": 'import "@/lib/contract/job";',
  "components/jobs/table.ts": 'import "@/components/run/form";',
  "components/apps/form.ts": 'import "@/components/jobs/table";',
  "components/run/form.ts": 'import "@/lib/server/store";',
  "lib/browser/api.ts": 'import "@/lib/server/store";',
  "lib/comfyui/client.ts": 'import "@/lib/server/store";',
  "lib/contract/job.ts": 'import "@/lib/shared/result";',
  "lib/http/event-sockets.ts": 'import "@/lib/server/store";',
  "lib/messages/en.ts": 'import "@/lib/shared/result";',
  "lib/server/store.ts": 'import "@/components/ui/button"; import "@/lib/service/jobs";',
  "lib/server/keys/key-ring.ts": 'import "../store/database";',
  "lib/server/store/database.ts": 'import "../keys/ring"; import "../env";',
  "lib/server/keys/ring.ts": "",
  "lib/server/env.ts": 'import "./bff/guard"; import "./composition";',
  "lib/server/composition.ts": "",
  "lib/server/bff/guard.ts": "",
  "lib/service/index.ts": 'import "next"; import "@/lib/server/store";',
  "lib/service/jobs.ts": 'import "@/tests/support";',
  "lib/shared/result.ts": 'import "@/lib/contract/job"; import "./missing";',
  "lib/shared/alone.ts": "",
  "tests/support.ts": "",
};

test("reports a deliberate violation of each rule", async () => {
  const folder = createTemporaryFolder();
  for (const [file, text] of Object.entries(violatingFiles)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const { violations, modules } = await runDependencyCruiser(folder, ["app", "bin", "components", "lib", "tests"]);
  expect(findCycles("lib/server", modules)).toEqual(["keys store", "store keys"]);
  const reportedRules = new Set(violations.map(({ rule }) => rule.name));
  expect([...rules.forbidden, ...rules.required].map(({ name }) => name).filter((name) => !reportedRules.has(name))).toEqual([]);
});
