import { describe, expect, it } from "vitest";
import { statusNow } from "@/components/frame/connection/connection-status";

describe("what the connection card shows", () => {
  it.each([
    ["active", undefined, "active"],
    ["active", "answer", "active"],
    ["unreachable", "answer", "active"],
    ["waitlisted", "answer", "waitlisted"],
    ["active", "UPSTREAM_UNREACHABLE", "unreachable"],
    ["active", "UPSTREAM_REFUSED_KEY", "refused"],
    ["waitlisted", "UPSTREAM_UNREADABLE", "strange"],
    ["active", "CONSOLE_UNREACHABLE", "unknown"],
    ["refused", "API_KEY_MISSING", "refused"],
  ] as const)("of a connection that was %s, after the response %s, is %s", (checked, last, shown) => {
    expect(statusNow(checked, last)).toBe(shown);
  });
});
