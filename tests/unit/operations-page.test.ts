import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { knownSettings } from "@/lib/server/env";

const page = readFileSync("docs/operations.md", "utf8");

it("docs/operations.md has a row for every setting of the service and of the console, and for none that does not exist", () => {
  const listed = new Set([...page.matchAll(/^\| `(LIGHTDESK_\w+|DATABASE_URL|PORT|HOST)`/gm)].map(([, name]) => name));
  expect([...listed].sort()).toEqual(knownSettings(["id"]).sort());
});

it("docs/operations.md names every metric that the program has, and none that it has not", () => {
  const metrics = readFileSync("lib/shared/metrics.ts", "utf8");
  const known = [...metrics.matchAll(/^ {2}(lightdesk_\w+):/gm)].map(([, name]) => name);
  const listed = new Set([...page.matchAll(/`(lightdesk_\w+)`/g)].map(([, name]) => name));
  expect([...listed].sort()).toEqual([...known].sort());
});
