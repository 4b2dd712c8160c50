// Worker threads run JavaScript: the bundles are made before the suites, by the same stamp as everywhere, so that no stale one stays.
import { ensureBundles } from "@/bin/prepare.mjs";

export async function setup(): Promise<void> {
  await ensureBundles();
}
