import { rmSync } from "node:fs";
import { expect, it, onTestFinished, test, vi } from "vitest";
import { requireSupportedVersion } from "@/lib/shared/database/postgres";
import { StoreUnavailableError } from "@/lib/shared/error-codes";
import { createPublicConnector, type Resolve } from "@/lib/shared/guarded-connector";
import { createBlockList, getNetwork, isInNetworks, isPublicAddress } from "@/lib/shared/ip-address";
import { checkDisk, createReadiness } from "@/lib/shared/readiness";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

const refusal = () => new Error("refused");
const resolve: Resolve = (_host, _options, callback) => callback(null, [{ address: "203.0.114.1", family: 4 }]);

/** Connects a socket to `remoteAddress`, regardless of the lookup. */
function connectTo(hostname: string, remoteAddress: string | undefined) {
  let isDestroyed = false;
  const socket = { remoteAddress, destroy: () => void (isDestroyed = true) };
  const connect = createPublicConnector<{ hostname: string }, typeof socket>(
    { resolve, createError: refusal },
    () => (_target, done) => done(null, socket),
  );
  return new Promise<[unknown, boolean]>((resolve) =>
    connect({ hostname }, (error, match) => resolve([error?.message ?? match === socket, isDestroyed])),
  );
}

test("checks the address of a connected socket and closes a private one", async () => {
  expect(await connectTo("storage.example", "203.0.114.1")).toEqual([true, false]);
  for (const address of ["127.0.0.1", "::1", "::ffff:10.0.0.1", "fe80::1%eth0", undefined])
    expect([address, await connectTo("storage.example", address)]).toEqual([address, ["refused", true]]);
});

test("rejects a private address before opening a socket, also in brackets", async () => {
  for (const hostname of ["10.0.0.1", "[::1]", "::1"]) expect(await connectTo(hostname, "203.0.114.1")).toEqual(["refused", false]);
});

test("accepts public addresses", () => {
  for (const address of ["8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.0.1", "2606:4700::1111", "2A00:1450:0:0:0:0:0:1"])
    expect([address, isPublicAddress(address)]).toEqual([address, true]);
});

test("rejects private and reserved addresses", () => {
  const ipv4 = ["127.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1"];
  const ipv6 = ["::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "2001:0:7f00:1::", "2002:7f00:1::", "2001:db8::1"];
  const mapped = ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "64:ff9b::8.8.8.8"];
  for (const address of [...ipv4, "224.0.0.1", "255.255.255.255", ...ipv6, ...mapped])
    expect([address, isPublicAddress(address)]).toEqual([address, false]);
});

test("rejects text that is not an address", () => {
  const decimalTexts = ["localhost", "", "1.1.1", "01.1.1.1", "0x8.8.8.8", "256.1.1.1", "1.1.1.1.1"];
  const hexTexts = [":::", "2a00::1::1", "2a00:1:2:3:4:5:6:7:8", "2a00:1450:00001::", "1.2.3.4::", "2a00::1.2.3.4:5"];
  for (const text of [...decimalTexts, ...hexTexts]) expect([text, isPublicAddress(text)]).toEqual([text, false]);
});

test("matches a network's first and last address, also when IPv4-mapped", () => {
  const network = createBlockList("172.16.0.0/12", "2001:db8::/33");
  for (const address of ["172.16.0.0", "172.31.255.255", "::ffff:172.16.0.1", "::ffff:ac10:1", "2001:db8:7fff::1"])
    expect([address, isInNetworks(address, network)]).toEqual([address, true]);
  for (const address of ["172.15.255.255", "172.32.0.0", "::ffff:172.32.0.0", "2001:db8:8000::1", "2001:db8::1%eth0", "172.16.0", ""])
    expect([address, isInNetworks(address, network)]).toEqual([address, false]);
  for (const value of ["10.0.0.0/33", "10.0.0/8", "2001:db8::/129", "10.0.0.0"]) expect(() => createBlockList(value)).toThrow();
});

test.each([
  ["2001:db8::1", "2001:DB8:0:0:1::", true],
  ["1::", "1:0:0:0:ffff::1", true],
  ["fe80::1%eth0", "fe80::2", true],
  ["0:0:3:4::1", "::3:4:0:0:0:2", true],
  ["2001:db8::1", "2001:db8:0:1::1", false],
  ["10.0.0.1", "::ffff:10.0.0.1", true],
  ["10.0.0.1", "10.0.0.2", false],
])("counts %s and %s as one client: %s", (value, other, isSameNetwork) => {
  expect(getNetwork(value) === getNetwork(other)).toBe(isSameNetwork);
});

test("reports a failed or hanging check without its error message", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const readiness = createReadiness({
    fine: () => undefined,
    broken: () => {
      throw new Error("/data/secret.sqlite is malformed");
    },
    away: () => {
      throw new StoreUnavailableError("10.0.0.7 refused the connection");
    },
    silent: () => new Promise(() => undefined),
  });
  const states = readiness();
  await vi.advanceTimersByTimeAsync(3000);
  expect(await states).toEqual([
    { part: "fine", ready: true },
    { part: "broken", ready: false, reason: "It failed. See the log." },
    { part: "away", ready: false, reason: "The database is unreachable." },
    { part: "silent", ready: false, reason: "No response within 2 s." },
  ]);
});

test("runs each check at most once a second", async () => {
  let nowMs = 0;
  let checkCount = 0;
  const readiness = createReadiness({ part: () => void (checkCount += 1) }, () => nowMs);
  await Promise.all([readiness(), readiness()]);
  nowMs = 999;
  await readiness();
  expect(checkCount).toBe(1);
  nowMs = 1000;
  await readiness();
  expect(checkCount).toBe(2);
});

test("reports a missing data folder", () => {
  const folder = createTemporaryFolder();
  expect(checkDisk(folder)).toBeUndefined();
  rmSync(folder, { recursive: true });
  expect(checkDisk(folder)).toMatchObject({ ready: false, reason: "The data folder is missing or not writable." });
});

const requireServerVersion = (number: number, name: string) => requireSupportedVersion(() => Promise.resolve({ rows: [{ number, name }] }));

it("rejects PostgreSQL before 15", async () => {
  await expect(requireServerVersion(140_019, "14.19")).rejects.toThrow("DATABASE_URL must point to PostgreSQL 15 or later (got 14.19).");
  await expect(requireServerVersion(150_000, "15.0")).resolves.toBeUndefined();
  await expect(requireServerVersion(170_006, "17.6 (Debian)")).resolves.toBeUndefined();
});
