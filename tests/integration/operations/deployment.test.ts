// Checks compose.yaml without a container engine, unchanged and with every commented option.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { resolveConfig } from "prettier";
import { beforeEach, describe, expect, it, test } from "vitest";
import { z } from "zod";
import { entries } from "@/bin/build/bundle.mjs";
import { fingerprint } from "@/bin/build/fingerprint.mjs";
import { settingsOf } from "@/tests/support/setting-names";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { readSteps, requireBuilt } from "./image";

const recordSchema = z.record(z.string(), z.unknown());
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
  depends_on: recordSchema.default({}),
  healthcheck: recordSchema.optional(),
  deploy: recordSchema.optional(),
});
const composition = z.object({ services: z.record(z.string(), recordSchema), volumes: recordSchema, secrets: recordSchema.default({}) });
type Service = z.infer<typeof service>;

/** Merge keys and `extends` are resolved, as an engine does. */
async function readCompose(text: string) {
  const folder = temporaryFolder();
  const file = join(folder, "compose.yaml");
  // Our services extend others key by key, so the effect of `!override` is the same without it.
  writeFileSync(file, text.replaceAll("!override ", ""));
  // Prettier reads YAML for its own settings.
  const options = await resolveConfig(file, { config: file, editorconfig: false, useCache: false });
  const { services, ...rest } = composition.parse(merge(options));
  const whole = Object.entries(services).map(([name, { extends: from, ...own }]): [string, Service] => {
    const base = from === undefined ? {} : services[z.strictObject({ service: z.string() }).parse(from).service];
    return [name, service.parse({ ...base, ...own })];
  });
  return { ...rest, services: new Map(whole) };
}

function merge(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(merge);
  if (typeof value !== "object" || value === null) return value;
  const { "<<": base, ...own } = Object.fromEntries(Object.entries(value).map(([key, service]) => [key, merge(service)]));
  return { ...(typeof base === "object" ? base : {}), ...own };
}

/** Uncomments keys; sentences stay comments. */
const uncomment = (text: string) => text.replace(/^( *)# ( *)((?:[a-z][\w-]*|LIGHTDESK_\w+):(?: .*)?)$/gm, "$1$2$3");

const asItIs = readFileSync("compose.yaml", "utf8");
const withAll = uncomment(asItIs);
const commandOfImage = z.array(z.string()).parse(JSON.parse(readSteps().findLast(({ word }) => word === "CMD")?.rest ?? ""));
const isOurs = ({ build, image }: Service) => build !== undefined || image === "lightdesk";

describe.each([
  ["as it is", asItIs, ["console", "worker", "postgres", "service"]],
  ["with all that it offers in comments", withAll, ["console", "console-2", "worker", "postgres", "service", "runner"]],
])("compose.yaml %s", (_, text, expected) => {
  it("defines these services, with our image read-only and unprivileged", async () => {
    const { services } = await readCompose(text);
    expect([...services.keys()]).toEqual(expected);
    const ownServices = [...services].filter(([, service]) => isOurs(service));
    expect(ownServices.map(([name]) => name)).toEqual(expected.filter((name) => name !== "postgres" && name !== "runner"));
    // Without `user`, which is no key here, it is the one of the Dockerfile.
    for (const [name, service] of ownServices)
      expect([name, service]).toMatchObject([
        name,
        { build: ".", read_only: true, tmpfs: ["/tmp"], cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"], init: true },
      ]);
    for (const { ports = [] } of services.values()) for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it("starts programs in the image with settings they support", async () => {
    const { services } = await readCompose(text);
    const packed = Object.keys(entries).map((name) => `dist/${name}.mjs`);
    for (const [name, { command = commandOfImage, environment }] of [...services].filter(([, service]) => isOurs(service))) {
      const [program, script = "", ...rest] = command;
      expect([name, program, packed.includes(script), rest]).toEqual([name, "node", true, []]);
      const settingNames = new Set([...(settingsOf[script] ?? []), "LIGHTDESK_BASE_PATH"]);
      expect([name, Object.keys(environment).filter((setting) => !settingNames.has(setting))]).toEqual([name, []]);
    }
  });

  it("declares each volume and secret that a service names, and none besides", async () => {
    const { services, volumes, secrets } = await readCompose(text);
    const all = [...services.values()];
    const mounted = all.flatMap((item) => item.volumes.map((volume) => volume.split(":")[0] ?? ""));
    expect([...new Set(mounted)].sort()).toEqual(Object.keys(volumes).sort());
    expect([...new Set(all.flatMap((item) => item.secrets))].sort()).toEqual(Object.keys(secrets).sort());
    for (const { depends_on } of all)
      for (const dependency of Object.keys(depends_on)) expect(services.has(dependency), dependency).toBe(true);
    for (const service of all)
      for (const value of Object.values(service.environment).filter((text) => text.startsWith("/run/secrets/")))
        expect(service.secrets).toContain(value.replace("/run/secrets/", ""));
  });
});

it("reads every optional line of compose.yaml in the tests above", () => {
  const addedLines = withAll.split("\n").filter((line, at) => line !== asItIs.split("\n")[at]);
  expect(addedLines.map((line) => line.trim().split(":")[0])).toEqual([
    ...["LIGHTDESK_TRUST_PROXY", "LIGHTDESK_METRICS_TOKEN_FILE", "secrets"],
    ...["console-2", "extends", "ports", "volumes", "runner", "image", "restart", "deploy", "data-2", "secrets", "metrics-token"],
  ]);
});

describe("image", () => {
  let folder = "";
  beforeEach(() => {
    folder = temporaryFolder();
    for (const name of ["app", "dist", ".next"]) mkdirSync(join(folder, name));
    writeFileSync(join(folder, "app/page.tsx"), "one");
    for (const built of ["dist", ".next"]) writeFileSync(join(folder, built, ".lightdesk-built"), fingerprint(folder));
  });

  test("builds the image only from a build of the same sources", () => {
    expect(() => requireBuilt(folder)).not.toThrow();
    rmSync(join(folder, ".next/.lightdesk-built"));
    expect(() => requireBuilt(folder)).toThrow(
      'What is in .next was not built from the sources that the image gets: run "npm run build" first.',
    );
    writeFileSync(join(folder, "app/page.tsx"), "two");
    expect(() => requireBuilt(folder)).toThrow("What is in dist was not built");
  });
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

  it("starts the packed program with systemd's data folder and known settings", () => {
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

  it("runs unprivileged, writes only to its data folder and stops in a minute", () => {
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
