// `npm run bench` measures the console, and `npm run bench:service` the stand-alone service. Arguments select sections (docs/benchmarks.md).
import { ensureBuilt, ensureBundles, enterProject } from "./prepare.mjs";

const isServiceBench = process.argv[2] === "--service";
if (isServiceBench) process.argv.splice(2, 1);
enterProject();
const sources = await ensureBundles({ withDevelopment: true });
const { bundleAndRun } = await import("./build/bundle.mjs");
if (isServiceBench) await bundleAndRun("tests/bench/service/main.ts", "bench-service");
else {
  await ensureBuilt(sources, "");
  await bundleAndRun("tests/bench/main.ts", "bench", {
    "bench-proxy": "tests/bench/bare-proxy.ts",
    "bench-runners": "tests/bench/cluster/runners.ts",
  });
}
