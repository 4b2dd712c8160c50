// `npm run conformance -- --base-url URL --api-key KEY`: the contract suite of tests/contract against anyone's deployment.
// Reads only unless `--write` is given; `--help` says the rest. Needs the packages, no build.
import { ensureInstalled } from "./build/installed.mjs";
import { checkNode, enterProject, root } from "./prepare.mjs";

enterProject();
checkNode();
await ensureInstalled(root);
const { runBundled } = await import("./build/bundle.mjs");
await runBundled("tests/contract/conformance.ts", "conformance");
