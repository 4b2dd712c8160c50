// `npm run bench`: builds what is missing, then prints the console's figures of docs/benchmarks.md for this machine; takes some minutes.
// `npm run bench -- screens` measures only these; tests/bench/main.ts has the names.
// Uses only loopback and processes that it starts itself; progress goes to stderr, the figures as Markdown to stdout.
import { ensureBuilt, ensureBundles, enterProject } from "./prepare.mjs";

enterProject();
await ensureBuilt(await ensureBundles({ withDevelopment: true }), "");
const { runBundled } = await import("./build/bundle.mjs");
await runBundled("tests/bench/main.ts", "bench", {
  "bench-queue": "tests/bench/queue/main.ts",
  "bench-runners": "tests/bench/cluster/runners.ts",
});
