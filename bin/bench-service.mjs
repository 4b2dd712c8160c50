// `npm run bench:service`: bundles what is missing, then prints the stand-alone service's figures for this machine; takes a few minutes.
// `npm run bench:service -- submissions upload` measures only these.
// Uses only loopback and processes that it starts itself; progress goes to stderr, the figures as Markdown to stdout.
import { ensureBundles, enterProject } from "./prepare.mjs";

enterProject();
await ensureBundles();
const { runBundled } = await import("./build/bundle.mjs");
await runBundled("tests/bench/service/main.ts", "bench-service");
