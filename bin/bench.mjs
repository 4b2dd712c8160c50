// `npm run bench`: builds what is missing, then prints the console's figures of docs/benchmarks.md for this machine; some minutes.
// `npm run bench -- screens` measures only these; the names are those of tests/bench/main.ts.
import { runBench } from "./bundled-bench.mjs";
import { enterProject, ensureBuilt, ensureBundles } from "./prepare.mjs";

enterProject();
await ensureBuilt(await ensureBundles());
await runBench("tests/bench/main.ts", "bench");
