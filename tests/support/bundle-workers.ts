// Worker threads run JavaScript: the bundles are made once before the suites.
import { bundle } from "../../bin/bundle.mjs";

export async function setup(): Promise<void> {
  await bundle();
}
