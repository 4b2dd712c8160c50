// Bundles what runs outside Next: the stand-alone service, the worker threads, the console's server and command lines; and compiles the
// one kernel that is written in AssemblyScript.
// Packages stay outside the bundles; `server-only` is a guard for Next's bundler and is left out here.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { run } from "./run.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

const entries = {
  service: "bin/service.ts",
  console: "bin/console.ts",
  "rotate-keys": "bin/rotate-keys.ts",
  members: "bin/members.ts",
  audit: "bin/audit.ts",
  settings: "lib/server/env.ts",
  "answer-thread": "lib/server/answers/answer-thread.ts",
  "node-worker": "lib/service/nodes/worker.ts",
};

export async function bundle() {
  const entryPoints = Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(root + file)));
  if (Object.keys(entryPoints).length === 0) return;
  await Promise.all([
    compileKernel("lib/service/images/lanczos.as.ts", "dist/lanczos.wasm"),
    build({
      absWorkingDir: root,
      entryPoints,
      outdir: "dist",
      outExtension: { ".js": ".mjs" },
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      sourcemap: true,
      packages: "external",
      alias: { "server-only": `${root}bin/empty.mjs` },
      logLevel: "warning",
    }),
  ]);
}

async function compileKernel(source, outFile) {
  const options = ["--outFile", outFile, "--optimizeLevel", "3", "--runtime", "stub", "--enable", "simd"];
  const { code, output } = await run(process.execPath, ["node_modules/assemblyscript/bin/asc.js", source, ...options], { cwd: root });
  if (code !== 0) throw new Error(`${source} does not compile:\n${output}`);
}
