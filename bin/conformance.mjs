// `npm run conformance -- --base-url URL --api-key KEY`: runs the suite of tests/contract against any deployment. Needs no build.
import { ensureInstalled } from "./build/install-packages.mjs";
import { checkNode, enterProject, root } from "./prepare.mjs";

enterProject();
checkNode();
await ensureInstalled(root, false);
const { bundleAndRun } = await import("./build/bundle.mjs");
await bundleAndRun("tests/contract/conformance.ts", "conformance");
