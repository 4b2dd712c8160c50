// Closes consoles, services and databases automatically, so that tests don't have to.
import { afterAll, onTestFinished, TestRunner } from "vitest";

/**
 * Returns `close`, which runs once: when a test calls it, else after the test that opened the resource, or after the file if it was
 * opened while the file was loaded. The latest resource closes first. In `beforeAll` this isn't possible; load it with the file.
 */
export function closeAfterwards(close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | undefined;
  const closeOnce = () => (closing ??= close());
  if (TestRunner.getCurrentTest()) onTestFinished(closeOnce);
  else afterAll(closeOnce);
  return closeOnce;
}
