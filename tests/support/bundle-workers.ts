// Worker threads run JavaScript, so stale bundles are rebuilt before the suites.
import { ensureBundles } from "@/bin/prepare.mjs";

export async function setup(): Promise<void> {
  await ensureBundles();
}
