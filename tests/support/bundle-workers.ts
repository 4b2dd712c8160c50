// Worker threads run JavaScript: the bundles are built before the suites, checked by the same stamp as everywhere, so that none is stale.
import { ensureBundles } from "@/bin/prepare.mjs";

export async function setup(): Promise<void> {
  await ensureBundles();
}
