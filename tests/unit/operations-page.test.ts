import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const page = readFileSync("docs/operations.md", "utf8");

it("docs/operations.md has a row for every setting of the service and of the console, and for none that does not exist", () => {
  const files = [
    "lib/service/settings.ts",
    "lib/service/env.ts",
    "lib/server/env.ts",
    "lib/server/oidc-settings.ts",
    "lib/server/proxy-sign-in.ts",
  ];
  const read = files.map((file) => readFileSync(file, "utf8")).join("\n");
  // The variables of a sign-in provider have its id in their names.
  const ofProviders = [...read.matchAll(/\bof\(\s*"(\w+)"/g)].map(([, name]) => `LIGHTDESK_OIDC_ID_${name}`);
  const known = new Set(
    [...read.matchAll(/^ +(LIGHTDESK_\w+|DATABASE_URL|PORT|HOST):|^ +"(LIGHTDESK_\w+)",$|read\("(\w+)"/gm)].map(([, ...names]) =>
      names.find((name) => name !== undefined),
    ),
  );
  for (const name of ofProviders) known.add(name);
  const listed = new Set([...page.matchAll(/^\| `(LIGHTDESK_\w+|DATABASE_URL|PORT|HOST)`/gm)].map(([, name]) => name));
  expect([...listed].sort()).toEqual([...known].sort());
});

it("docs/operations.md names every metric that the program has, and none that it has not", () => {
  const metrics = readFileSync("lib/shared/metrics.ts", "utf8");
  const known = [...metrics.matchAll(/^ {2}(lightdesk_\w+):/gm)].map(([, name]) => name);
  const listed = new Set([...page.matchAll(/`(lightdesk_\w+)`/g)].map(([, name]) => name));
  expect([...listed].sort()).toEqual([...known].sort());
});
