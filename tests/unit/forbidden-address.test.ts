import { expect, test } from "vitest";
import { isForbiddenAddress } from "@/lib/shared/guarded-connector";

test.each([
  "169.254.169.254",
  "::ffff:169.254.169.254",
  "::ffff:a9fe:a9fe",
  "[fe80::1]",
  "fe80::1%eth0",
  "fd00:ec2::254",
  "0.0.0.0",
  "::",
  "::ffff:0.0.0.0",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "[::ffff:6464:64c8]",
  "[64:ff9b::a9fe:a9fe]",
  "64:ff9b::6464:64c8",
])("no service lives at %s", (address) => {
  expect(isForbiddenAddress(address)).toBe(true);
});

test.each(["127.0.0.1", "::1", "10.0.0.1", "192.168.1.1", "fd00::1", "100.100.100.201", "8.8.8.8", "desk.example.com", ""])(
  "a service may live at %s",
  (address) => {
    expect(isForbiddenAddress(address)).toBe(false);
  },
);
