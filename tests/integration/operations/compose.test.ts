// compose.yaml without an engine: what it says of our image holds, as it is and with everything that it offers in comments.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolveConfig } from "prettier";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { entries } from "@/bin/build/bundle.mjs";
import { settingsOf } from "@/tests/support/known-settings";
import { readSteps } from "./image";

const named = z.record(z.string(), z.unknown());
const service = z.strictObject({
  build: z.literal(".").optional(),
  image: z.string(),
  restart: z.literal("unless-stopped"),
  init: z.boolean().optional(),
  read_only: z.boolean().optional(),
  tmpfs: z.array(z.string()).optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  stop_grace_period: z.string().optional(),
  ports: z.array(z.string()).optional(),
  profiles: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  volumes: z.array(z.string()).default([]),
  secrets: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  depends_on: named.default({}),
  healthcheck: named.optional(),
  deploy: named.optional(),
});
const composition = z.object({ services: z.record(z.string(), named), volumes: named, secrets: named.default({}) });
type Service = z.infer<typeof service>;

/** Merge keys and `extends` are resolved, as an engine does. */
async function readCompose(text: string) {
  const folder = mkdtempSync(join(tmpdir(), "lightdesk-compose-"));
  const file = join(folder, "compose.yaml");
  // What `!override` says is so without it here: our services extend others key by key.
  writeFileSync(file, text.replaceAll("!override ", ""));
  try {
    // Prettier reads YAML for its own settings.
    const found = await resolveConfig(file, { config: file, editorconfig: false, useCache: false });
    const { services, ...rest } = composition.parse(merged(found));
    const whole = Object.entries(services).map(([name, { extends: from, ...own }]): [string, Service] => {
      const base = from === undefined ? {} : services[z.strictObject({ service: z.string() }).parse(from).service];
      return [name, service.parse({ ...base, ...own })];
    });
    return { ...rest, services: new Map(whole) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function merged(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(merged);
  if (typeof value !== "object" || value === null) return value;
  const { "<<": base, ...own } = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, merged(one)]));
  return { ...(typeof base === "object" ? base : {}), ...own };
}

/** Takes away the `#` before keys; sentences stay comments. */
const uncommented = (text: string) => text.replace(/^( *)# ( *)((?:[a-z][\w-]*|LIGHTDESK_\w+):(?: .*)?)$/gm, "$1$2$3");

const asItIs = readFileSync("compose.yaml", "utf8");
const withAll = uncommented(asItIs);
const commandOfImage = z.array(z.string()).parse(JSON.parse(readSteps().findLast(({ word }) => word === "CMD")?.rest ?? ""));
const isOurs = ({ build, image }: Service) => build !== undefined || image === "lightdesk";

describe.each([
  ["as it is", asItIs, ["console", "worker", "postgres", "service"]],
  ["with all that it offers in comments", withAll, ["console", "console-2", "worker", "postgres", "service", "runner"]],
])("compose.yaml %s", (_, text, expected) => {
  it("names these services, and those that build our image have nothing to write to but volumes, and no rights", async () => {
    const { services } = await readCompose(text);
    expect([...services.keys()]).toEqual(expected);
    const ours = [...services].filter(([, one]) => isOurs(one));
    expect(ours.map(([name]) => name)).toEqual(expected.filter((name) => name !== "postgres" && name !== "runner"));
    // Without `user`, which is no key here, it is the one of the Dockerfile.
    for (const [name, one] of ours)
      expect([name, one]).toMatchObject([
        name,
        { build: ".", read_only: true, tmpfs: ["/tmp"], cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"], init: true },
      ]);
    for (const { ports = [] } of services.values()) for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it("starts programs that the image holds, with settings that these know", async () => {
    const { services } = await readCompose(text);
    const packed = Object.keys(entries).map((name) => `dist/${name}.mjs`);
    for (const [name, { command = commandOfImage, environment }] of [...services].filter(([, one]) => isOurs(one))) {
      const [program, script = "", ...more] = command;
      expect([name, program, packed.includes(script), more]).toEqual([name, "node", true, []]);
      const known = new Set([...(settingsOf[script] ?? []), "LIGHTDESK_BASE_PATH"]);
      expect([name, Object.keys(environment).filter((setting) => !known.has(setting))]).toEqual([name, []]);
    }
  });

  it("declares each volume and secret that a service names, and none besides", async () => {
    const { services, volumes, secrets } = await readCompose(text);
    const all = [...services.values()];
    const mounted = all.flatMap((one) => one.volumes.map((volume) => volume.split(":")[0] ?? ""));
    expect([...new Set(mounted)].sort()).toEqual(Object.keys(volumes).sort());
    expect([...new Set(all.flatMap((one) => one.secrets))].sort()).toEqual(Object.keys(secrets).sort());
    for (const { depends_on } of all) for (const other of Object.keys(depends_on)) expect(services.has(other), other).toBe(true);
    for (const one of all)
      for (const value of Object.values(one.environment).filter((text) => text.startsWith("/run/secrets/")))
        expect(one.secrets).toContain(value.replace("/run/secrets/", ""));
  });
});

it("every line of compose.yaml that offers a setting or a service is one that the tests above have read", () => {
  const added = withAll.split("\n").filter((line, at) => line !== asItIs.split("\n")[at]);
  expect(added.map((line) => line.trim().split(":")[0])).toEqual([
    ...["LIGHTDESK_TRUST_PROXY", "LIGHTDESK_METRICS_TOKEN_FILE", "secrets"],
    ...["console-2", "extends", "ports", "volumes", "runner", "image", "restart", "deploy", "data-2", "secrets", "metrics-token"],
  ]);
});
