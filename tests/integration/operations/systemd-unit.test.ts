// The example of a unit for systemd, read without systemd: what it starts is there, and what it may do is little.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { entries } from "@/bin/build/bundle.mjs";
import { settingsOf } from "@/tests/support/known-settings";

const text = readFileSync("docs/examples/lightdesk.service", "utf8");
const lines = [...text.matchAll(/^(?:\[(\w+)\]|(\w+)=(.*)|#.*|)$/gm)];
const service = lines.slice(
  lines.findIndex(([, section]) => section === "Service"),
  lines.findIndex(([, section]) => section === "Install"),
);
const valuesOf = (key: string) => service.flatMap(([, , name, value]) => (name === key ? [value] : []));

it("has the three sections of a unit and nothing that is neither a key, a section nor a comment", () => {
  expect(lines.map(([line]) => line).join("\n")).toBe(text);
  expect(lines.flatMap(([, section]) => section ?? [])).toEqual(["Unit", "Service", "Install"]);
});

it("starts a program that the packed folder holds, with a data folder that systemd makes and settings that the program knows", () => {
  const [start = ""] = valuesOf("ExecStart");
  const [node, script = "", ...more] = start.split(" ");
  expect([node, Object.keys(entries).map((name) => `dist/${name}.mjs`), more]).toEqual(["/usr/bin/node", expect.arrayContaining([script]), []]); // prettier-ignore
  expect(valuesOf("WorkingDirectory")).toEqual(["/opt/lightdesk"]);
  expect(text).toContain("`npm run pack -- /opt/lightdesk`");
  const settings = valuesOf("Environment").flatMap((value = "") => value.split(" ").map((one) => one.split("=")));
  const known = new Set([...(settingsOf[script] ?? []), "NODE_ENV", "NEXT_TELEMETRY_DISABLED"]);
  expect(settings.flatMap(([name = ""]) => (known.has(name) ? [] : [name]))).toEqual([]);
  expect(Object.fromEntries(settings)).toMatchObject({ LIGHTDESK_DATA_DIR: `/var/lib/${valuesOf("StateDirectory")[0]}` });
});

it("runs as a user of its own without rights, writes to its data folder alone, and is given a minute to stop", () => {
  expect([valuesOf("DynamicUser"), valuesOf("User"), valuesOf("Group")]).toEqual([["yes"], [], []]);
  expect([valuesOf("CapabilityBoundingSet"), valuesOf("AmbientCapabilities")]).toEqual([[""], []]);
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
    expect([key, valuesOf(key)]).toEqual([key, [value]]);
  for (const key of ["ReadWritePaths", "MemoryDenyWriteExecute"]) expect([key, valuesOf(key)]).toEqual([key, []]);
});
