// `npm run conformance -- --base-url URL --api-key KEY`: runs the contract suite of tests/contract against anyone's deployment.
// Only reads unless `--write` is given; `--help` explains the rest. Needs the packages, but no build.
import { ensureInstalled } from "./build/installed.mjs";
import { checkNode, enterProject, root } from "./prepare.mjs";

enterProject();
checkNode();
await ensureInstalled(root, false);
const { runBundled } = await import("./build/bundle.mjs");
await runBundled("tests/contract/conformance.ts", "conformance");
