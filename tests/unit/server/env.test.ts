import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeUnknownSettings, getConsoleUrl, readEnv, reservedNames } from "@/lib/server/env";
import { lockDataFolder } from "@/lib/server/installation";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

test("uses defaults and a data folder in the root for absent and empty settings", () => {
  const env = readEnv({ PORT: "", HOST: "  " }, "/somewhere");
  expect([env.host, env.port, env.dataDir, env.publicUrl]).toEqual(["127.0.0.1", 3000, "/somewhere/.lightdesk", undefined]);
});

test("resolves a relative data folder against the root", () => {
  expect(readEnv({ LIGHTDESK_DATA_DIR: "data/here" }, "/root").dataDir).toBe("/root/data/here");
  expect(readEnv({ LIGHTDESK_DATA_DIR: "/data" }, "/root").dataDir).toBe("/data");
});

test.each([
  ["PORT", "abc"],
  ["PORT", "65536"],
  ["PORT", "-1"],
  ["HOST", "not a host"],
  ["LIGHTDESK_PUBLIC_URL", "desk.example.com"],
  ["LIGHTDESK_PUBLIC_URL", "ftp://desk.example.com"],
  ["LIGHTDESK_PUBLIC_URL", "https://desk.example.com/?a=b"],
  ["LIGHTDESK_BASE_PATH", "desk"],
  ["LIGHTDESK_BASE_PATH", "/desk/../jobs"],
  ["LIGHTDESK_BASE_PATH", "//desk"],
  ["LIGHTDESK_BASE_PATH", "/de%73k"],
  ["LIGHTDESK_BASE_PATH", "/jobs/desk"],
  ["LIGHTDESK_BASE_PATH", `/${"a".repeat(200)}`],
  ["LIGHTDESK_ENCRYPTION_KEYS", "secret-without-id"],
  ["LIGHTDESK_LOG_LEVEL", "loud"],
  ["LIGHTDESK_TRUST_PROXY", "maybe"],
  ["LIGHTDESK_CONCURRENCY", "0"],
  ["LIGHTDESK_MAX_UPLOAD_BYTES", "10MB"],
  ["LIGHTDESK_RETENTION_DAYS", "0", "from 1 to 36500"],
  ["LIGHTDESK_FFMPEG", "/nonexistent"],
])("rejects %s=%s with the setting's name and the expected value", (name, value, range = ".{5,}") => {
  expect(() => readEnv({ [name]: value }, "/root")).toThrow(new RegExp(`^${name} must be .*${range}`));
  if (name === "LIGHTDESK_ENCRYPTION_KEYS") expect(() => readEnv({ [name]: value }, "/root")).not.toThrow(new RegExp(value));
});

describe("the base path", () => {
  const getUrl = (settings: Record<string, string>) => getConsoleUrl(readEnv({ PORT: "4000", ...settings }, "/root"));

  test.each([
    ["/desk", "/desk"],
    ["/tools/desk-2.0/", "/tools/desk-2.0"],
    ["/", ""],
  ])("is read from %s as %j", (setting, basePath) => {
    expect(readEnv({ LIGHTDESK_BASE_PATH: setting }, "/root").basePath).toBe(basePath);
    expect(getUrl({ LIGHTDESK_BASE_PATH: setting })).toBe(`http://127.0.0.1:4000${basePath}`);
  });

  test.each(["https://example.com", "https://example.com/desk/"])("is added to the public URL %s once", (publicUrl) =>
    expect(getUrl({ LIGHTDESK_PUBLIC_URL: publicUrl, LIGHTDESK_BASE_PATH: "/desk" })).toBe("https://example.com/desk"),
  );

  test("is rejected when it differs from the public URL's path", () => {
    const settings = { LIGHTDESK_PUBLIC_URL: "https://example.com/desk" };
    expect(() => getUrl(settings)).toThrow(
      "LIGHTDESK_PUBLIC_URL has the path /desk, but LIGHTDESK_BASE_PATH is not set: give both the same path.",
    );
    expect(() => getUrl({ ...settings, LIGHTDESK_BASE_PATH: "/other" })).toThrow(/but LIGHTDESK_BASE_PATH is \/other/);
  });

  test("can't start with the name of a page, route or public file", () => {
    const folders = ["app", "app/(auth)", "app/(console)", "app/(console)/(overview)"].flatMap((folder) =>
      readdirSync(folder).filter((name) => /^[\w-]+$/.test(name) && hasRoute(`${folder}/${name}`)),
    );
    expect(folders).toContain("jobs");
    for (const name of [...folders, ...readdirSync("public"), "icon.svg"]) expect(reservedNames).toContain(name);
  });
});

function hasRoute(folder: string): boolean {
  if (!existsSync(folder)) return false;
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).some((file) => /(^|[\\/])(page|route)\.tsx?$/.test(file));
}

const acmeSettings = {
  LIGHTDESK_OIDC: "acme",
  LIGHTDESK_OIDC_ACME_ISSUER: "https://login.example.com/",
  LIGHTDESK_OIDC_ACME_CLIENT_ID: "lightdesk",
  LIGHTDESK_OIDC_ACME_CLIENT_SECRET: "a secret",
};

test("uses a provider's default label and scopes and disables sign-up by default", () => {
  const { oidc, passwordSignIn } = readEnv(acmeSettings, "/root");
  expect(oidc).toEqual([
    {
      id: "acme",
      label: "Acme",
      issuer: "https://login.example.com/",
      clientId: "lightdesk",
      clientSecret: "a secret",
      scopes: "openid email profile",
      domains: [],
      signUp: undefined,
      roles: undefined,
      verifiedClaim: "email_verified",
      linksByAddress: false,
      isUndated: false,
    },
  ]);
  expect([passwordSignIn, readEnv({}, "/root").oidc]).toEqual([true, []]);
});

test.each([
  ["LIGHTDESK_OIDC", { LIGHTDESK_OIDC: "acme,acme" }],
  ["LIGHTDESK_OIDC", { LIGHTDESK_OIDC: "credentials" }],
  ["LIGHTDESK_OIDC", { LIGHTDESK_OIDC: "Acme Inc" }],
  ["LIGHTDESK_OIDC_OTHER_ISSUER", { LIGHTDESK_OIDC: "acme,other" }],
  ["LIGHTDESK_OIDC_ACME_ISSUER", { LIGHTDESK_OIDC_ACME_ISSUER: "http://login.example.com" }],
  ["LIGHTDESK_OIDC_ACME_ISSUER", { LIGHTDESK_OIDC_ACME_ISSUER: "http://127.0.0.1.evil.example" }],
  ["LIGHTDESK_OIDC_ACME_ISSUER", { LIGHTDESK_OIDC_ACME_ISSUER: "https://login.example.com?x=1" }],
  ["LIGHTDESK_OIDC_ACME_CLIENT_SECRET", { LIGHTDESK_OIDC_ACME_CLIENT_SECRET: "" }],
  ["LIGHTDESK_OIDC_ACME_CLIENT_SECRET", { LIGHTDESK_OIDC_ACME_CLIENT_SECRET_FILE: "/also" }],
  ["LIGHTDESK_OIDC_ACME_CLIENT_SECRET", { LIGHTDESK_OIDC_ACME_CLIENT_SECRET: "", LIGHTDESK_OIDC_ACME_CLIENT_SECRET_FILE: "/no/file" }],
  ["LIGHTDESK_OIDC_ACME_SIGN_UP", { LIGHTDESK_OIDC_ACME_SIGN_UP: "owner" }],
  ["LIGHTDESK_OIDC_ACME_DOMAINS", { LIGHTDESK_OIDC_ACME_SIGN_UP: "viewer" }],
  ["LIGHTDESK_OIDC_ACME_DOMAINS", { LIGHTDESK_OIDC_ACME_DOMAINS: "example.com, other" }],
  ["LIGHTDESK_OIDC_ACME_ROLE_CLAIM", { LIGHTDESK_OIDC_ACME_ROLE_CLAIM: "groups" }],
  ["LIGHTDESK_OIDC_ACME_ROLES", { LIGHTDESK_OIDC_ACME_ROLE_CLAIM: "groups", LIGHTDESK_OIDC_ACME_ROLES: "bosses:owner" }],
  ["LIGHTDESK_OIDC_ACME_LINK", { LIGHTDESK_OIDC_ACME_LINK: "yes" }],
  ["LIGHTDESK_PASSWORD_SIGN_IN", { LIGHTDESK_OIDC: "", LIGHTDESK_PASSWORD_SIGN_IN: "0" }],
])("reports %s when %j is invalid and exposes no secret", (name, settings) => {
  const parse = () => readEnv({ ...acmeSettings, ...settings }, "/root");
  expect(parse).toThrow(new RegExp(`^${name}( or LIGHTDESK_OIDC_ACME_\\w+| and LIGHTDESK_OIDC_ACME_ROLES)? must `));
  expect(parse).not.toThrow(/a secret/);
});

test("reports unknown variables and suggests the likely setting", () => {
  const source = {
    PATH: "/bin",
    LIGHTDESK_PORT: "1",
    LIGHTDESK_PUBLC_URL: "x",
    LIGHTDESK_MAX_UPLOAD_BYTES: "1",
    LIGHTDESK_OIDC: "acme,my-corp",
    LIGHTDESK_OIDC_ACME_ISSUR: "x",
    LIGHTDESK_OIDC_MY_CORP_LABEL: "x",
    LIGHTDESK_OIDC_OTHER_LABEL: "x",
    LIGHTDESK_ZZZZZZZZZZZZZZZZZZZZZZZ: "x",
  };
  expect(describeUnknownSettings(source)).toEqual([
    "LIGHTDESK_OIDC_ACME_ISSUR is not a setting and has no effect. Did you mean LIGHTDESK_OIDC_ACME_ISSUER?",
    "LIGHTDESK_OIDC_OTHER_LABEL is not a setting and has no effect. Did you mean LIGHTDESK_OIDC_ACME_LABEL?",
    expect.stringMatching(/^LIGHTDESK_PORT is not a setting/),
    "LIGHTDESK_PUBLC_URL is not a setting and has no effect. Did you mean LIGHTDESK_PUBLIC_URL?",
    "LIGHTDESK_ZZZZZZZZZZZZZZZZZZZZZZZ is not a setting and has no effect.",
  ]);
});

const root = createTemporaryFolder();

test("rejects a data folder locked by another console", () => {
  const folder = join(root, "data");
  lockDataFolder(folder);
  expect(() => lockDataFolder(folder)).toThrow(`LIGHTDESK_DATA_DIR must not be shared: another Lightdesk uses ${folder}. Stop it first.`);
  // The store reports an unusable folder later.
  writeFileSync(join(root, "file"), "");
  expect(() => lockDataFolder(join(root, "file"))).not.toThrow();
});
