import { describe, expect, test } from "vitest";
import { readEnv } from "@/lib/server/env";

test("without a setting everything has its usual value, and the data folder lies in the root", () => {
  const env = readEnv({}, "/somewhere");
  expect([env.host, env.port, env.dataDir, env.publicUrl]).toEqual(["127.0.0.1", 3000, "/somewhere/.lightdesk", undefined]);
});

test("a relative data folder is relative to the root, an absolute one stays", () => {
  expect(readEnv({ LIGHTDESK_DATA_DIR: "data/here" }, "/root").dataDir).toBe("/root/data/here");
  expect(readEnv({ LIGHTDESK_DATA_DIR: "/data" }, "/root").dataDir).toBe("/data");
});

test("an empty setting is none", () => {
  expect(readEnv({ PORT: "", HOST: "  " }, "/root").port).toBe(3000);
});

describe.each([
  ["PORT", "abc"],
  ["PORT", "65536"],
  ["PORT", "-1"],
  ["HOST", "not a host"],
  ["LIGHTDESK_PUBLIC_URL", "desk.example.com"],
  ["LIGHTDESK_PUBLIC_URL", "ftp://desk.example.com"],
  ["LIGHTDESK_ENCRYPTION_KEYS", "secret-without-id"],
  ["LIGHTDESK_LOG_LEVEL", "loud"],
  ["LIGHTDESK_TRUST_PROXY", "maybe"],
  ["LIGHTDESK_CONCURRENCY", "0"],
  ["LIGHTDESK_MAX_UPLOAD_BYTES", "10MB"],
])("%s=%s", (name, value) => {
  test("is refused with the name and what it should be, and without the value", () => {
    expect(() => readEnv({ [name]: value }, "/root")).toThrow(new RegExp(`^${name} must be .{5,}`));
    if (name === "LIGHTDESK_ENCRYPTION_KEYS") expect(() => readEnv({ [name]: value }, "/root")).not.toThrow(new RegExp(value));
  });
});
