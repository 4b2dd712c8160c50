// `npm run bench:service`: bundles what is missing, then prints the stand-alone service's figures for this machine; a few minutes.
// `npm run bench:service -- submissions upload` measures only these.
import { runBench } from "./bundled-bench.mjs";
import { enterProject, ensureBundles } from "./prepare.mjs";

enterProject();
await ensureBundles();
await runBench("tests/bench/service/main.ts", "bench-service");
