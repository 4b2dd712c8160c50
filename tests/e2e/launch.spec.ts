import { expect, test } from "@playwright/test";
import { startProcess } from "@/tests/support/start-process";

test("a bad PORT stops the start with its name and what it should be", async () => {
  const started = startProcess("bin/start.mjs", { PORT: "abc" });
  expect(await started.ended).toBe(1);
  expect(started.output()).toContain("PORT must be a port number from 0 to 65535.");
});
