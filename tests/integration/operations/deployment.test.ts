// Checks the bundles, the systemd unit and compose.yaml (without a container engine, with its defaults and with every commented option).
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { resolveConfig } from "prettier";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { entries } from "@/bin/build/bundle.mjs";
import { computeFingerprint } from "@/bin/build/fingerprint.mjs";
import { settingsOf } from "@/tests/support/setting-names";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { readSteps, requireBuilt } from "./dockerfile";

const recordSchema = z.record(z.string(), z.unknown());
const serviceSchema = z.strictObject({
  build: z.strictObject({ context: z.literal("."), args: z.record(z.string(), z.string()) }).optional(),
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
  depends_on: recordSchema.default({}),
  healthcheck: recordSchema.optional(),
  deploy: recordSchema.optional(),
});
const composeSchema = z.object({ services: z.record(z.string(), recordSchema), volumes: recordSchema, secrets: recordSchema.default({}) });
type Service = z.infer<typeof serviceSchema>;

/** Parses a Compose file and resolves merge keys and `extends` like an engine. */
async function readCompose(text: string) {
  const folder = createTemporaryFolder();
  const file = join(folder, "compose.yaml");
  // Our services extend others key by key, so the effect of `!override` is the same without it.
  writeFileSync(file, text.replaceAll("!override ", ""));
  // Parses YAML with Prettier's configuration loader.
  const options = await resolveConfig(file, { config: file, editorconfig: false, useCache: false });
  const { services, ...rest } = composeSchema.parse(resolveMergeKeys(options));
  const serviceEntries = Object.entries(services).map(([name, { extends: from, ...ownKeys }]): [string, Service] => {
    const base = from === undefined ? {} : services[z.strictObject({ service: z.string() }).parse(from).service];
    return [name, serviceSchema.parse({ ...base, ...ownKeys })];
  });
  return { ...rest, services: new Map(serviceEntries) };
}

function resolveMergeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolveMergeKeys);
  if (typeof value !== "object" || value === null) return value;
  const { "<<": base, ...ownKeys } = Object.fromEntries(Object.entries(value).map(([key, service]) => [key, resolveMergeKeys(service)]));
  return { ...(typeof base === "object" ? base : {}), ...ownKeys };
}

/** Uncomments keys but not sentences. */
const uncomment = (text: string) => text.replace(/^( *)# ( *)((?:[a-z][\w-]*|LIGHTDESK_\w+):(?: .*)?)$/gm, "$1$2$3");

const defaultCompose = readFileSync("compose.yaml", "utf8");
const fullCompose = uncomment(defaultCompose);
const imageCommand = z
  .array(z.string())
  .parse(JSON.parse(readSteps().findLast(({ instruction }) => instruction === "CMD")?.argument ?? ""));
const isLightdeskService = ({ build, image }: Service) => build !== undefined || image === "lightdesk";

describe.each([
  ["with its defaults", defaultCompose, ["console", "worker", "postgres", "service"]],
  ["with every commented option", fullCompose, ["console", "console-2", "worker", "postgres", "service", "runner"]],
])("compose.yaml %s", (_, text, expected) => {
  it("defines the expected services, with Lightdesk read-only and unprivileged", async () => {
    const { services } = await readCompose(text);
    expect([...services.keys()]).toEqual(expected);
    const ownServices = [...services].filter(([, service]) => isLightdeskService(service));
    expect(ownServices.map(([name]) => name)).toEqual(expected.filter((name) => name !== "postgres" && name !== "runner"));
    // The schema has no `user` key, so the services run as the Dockerfile's user.
    for (const [name, service] of ownServices)
      expect([name, service]).toMatchObject([
        name,
        {
          build: { args: { LIGHTDESK_BASE_PATH: "${LIGHTDESK_BASE_PATH:-}" } },
          read_only: true,
          tmpfs: ["/tmp"],
          cap_drop: ["ALL"],
          security_opt: ["no-new-privileges:true"],
          init: true,
        },
      ]);
    for (const { ports = [] } of services.values()) for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it("starts scripts of the image with settings they support", async () => {
    const { services } = await readCompose(text);
    const scripts = Object.keys(entries).map((name) => `dist/${name}.mjs`);
    for (const [name, { command = imageCommand, environment }] of [...services].filter(([, service]) => isLightdeskService(service))) {
      const [program, script = "", ...rest] = command;
      expect([name, program, scripts.includes(script), rest]).toEqual([name, "node", true, []]);
      const settingNames = new Set([...(settingsOf[script] ?? []), "LIGHTDESK_BASE_PATH"]);
      expect([name, Object.keys(environment).filter((setting) => !settingNames.has(setting))]).toEqual([name, []]);
    }
  });

  it("declares exactly the volumes and secrets that its services use", async () => {
    const { services, volumes, secrets } = await readCompose(text);
    const allServices = [...services.values()];
    const mountedVolumes = allServices.flatMap((item) => item.volumes.map((volume) => volume.split(":")[0] ?? ""));
    expect([...new Set(mountedVolumes)].sort()).toEqual(Object.keys(volumes).sort());
    expect([...new Set(allServices.flatMap((item) => item.secrets))].sort()).toEqual(Object.keys(secrets).sort());
    for (const { depends_on } of allServices)
      for (const dependency of Object.keys(depends_on)) expect(services.has(dependency), dependency).toBe(true);
    for (const service of allServices)
      for (const value of Object.values(service.environment).filter((text) => text.startsWith("/run/secrets/")))
        expect(service.secrets).toContain(value.replace("/run/secrets/", ""));
  });
});

it("uncomments every optional line of compose.yaml", () => {
  const addedLines = fullCompose.split("\n").filter((line, index) => line !== defaultCompose.split("\n")[index]);
  expect(addedLines.map((line) => line.trim().split(":")[0])).toEqual([
    ...["LIGHTDESK_TRUST_PROXY", "LIGHTDESK_METRICS_TOKEN_FILE", "secrets"],
    ...["console-2", "extends", "ports", "volumes", "runner", "image", "restart", "deploy", "data-2", "secrets", "metrics-token"],
  ]);
});

it("builds the image only from a build of the same sources", () => {
  const folder = createTemporaryFolder();
  for (const name of ["app", "dist", ".next"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "app/page.tsx"), "one");
  for (const buildFolder of ["dist", ".next"]) writeFileSync(join(folder, buildFolder, ".lightdesk-built"), computeFingerprint(folder));
  expect(() => requireBuilt(folder)).not.toThrow();
  rmSync(join(folder, ".next/.lightdesk-built"));
  expect(() => requireBuilt(folder)).toThrow('.next was not built from the current sources. Run "npm run build" first.');
  writeFileSync(join(folder, "app/page.tsx"), "two");
  expect(() => requireBuilt(folder)).toThrow("dist was not built");
});

describe("systemd unit", () => {
  const text = readFileSync("docs/examples/lightdesk.service", "utf8");
  const lines = [...text.matchAll(/^(?:\[(\w+)\]|(\w+)=(.*)|#.*|)$/gm)];
  const service = lines.slice(
    lines.findIndex(([, section]) => section === "Service"),
    lines.findIndex(([, section]) => section === "Install"),
  );
  const getValues = (key: string) => service.flatMap(([, , name, value]) => (name === key ? [value] : []));

  it("has three sections with valid keys and comments only", () => {
    expect(lines.map(([line]) => line).join("\n")).toBe(text);
    expect(lines.flatMap(([, section]) => section ?? [])).toEqual(["Unit", "Service", "Install"]);
  });

  it("starts the packed program with systemd's data folder and valid settings", () => {
    const [start = ""] = getValues("ExecStart");
    const [node, script = "", ...rest] = start.split(" ");
    expect([node, Object.keys(entries).map((name) => `dist/${name}.mjs`), rest]).toEqual(["/usr/bin/node", expect.arrayContaining([script]), []]); // prettier-ignore
    expect(getValues("WorkingDirectory")).toEqual(["/opt/lightdesk"]);
    expect(text).toContain("`npm run pack -- /opt/lightdesk`");
    const settings = getValues("Environment").flatMap((value = "") => value.split(" ").map((value) => value.split("=")));
    const settingNames = new Set([...(settingsOf[script] ?? []), "NODE_ENV", "NEXT_TELEMETRY_DISABLED"]);
    expect(settings.flatMap(([name = ""]) => (settingNames.has(name) ? [] : [name]))).toEqual([]);
    expect(Object.fromEntries(settings)).toMatchObject({ LIGHTDESK_DATA_DIR: `/var/lib/${getValues("StateDirectory")[0]}` });
  });

  it("runs unprivileged, writes only to its data folder and stops in time", () => {
    expect([getValues("DynamicUser"), getValues("User"), getValues("Group")]).toEqual([["yes"], [], []]);
    expect([getValues("CapabilityBoundingSet"), getValues("AmbientCapabilities")]).toEqual([[""], []]);
    for (const [key, value] of [
      ["NoNewPrivileges", "yes"],
      ["ProtectSystem", "strict"],
      ["ProtectHome", "yes"],
      ["PrivateTmp", "yes"],
      ["PrivateDevices", "yes"],
      ["RestrictNamespaces", "yes"],
      ["RestrictSUIDSGID", "yes"],
      ["SystemCallFilter", "@system-service"],
      ["StateDirectoryMode", "0700"],
      ["UMask", "0077"],
      ["TimeoutStopSec", "60"],
    ] as const)
      expect([key, getValues(key)]).toEqual([key, [value]]);
    for (const key of ["ReadWritePaths", "MemoryDenyWriteExecute"]) expect([key, getValues(key)]).toEqual([key, []]);
  });
});

describe("bundles", () => {
  it.each(Object.keys(entries))("removes the __proto__ accessor before the code of dist/%s.mjs", (name) => {
    const [firstLine = ""] = readFileSync(`dist/${name}.mjs`, "utf8").split("\n");
    expect(firstLine).toContain("delete Object.prototype.__proto__");
  });

  it("confines a prototype pollution attempt to the written object", async () => {
    const attack = 'const all = {}; const id = "__proto__"; (all[id] ??= {}).isPolluted = true;';
    const program = `import "./dist/settings.mjs"; ${attack} console.log(JSON.stringify([{}.isPolluted ?? null, Object.keys(all)]));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
    expect(JSON.parse(stdout)).toEqual([null, ["__proto__"]]);
  });
});
