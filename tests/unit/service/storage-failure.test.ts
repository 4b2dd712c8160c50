// Storage error responses claim that nothing was stored only when that is certain.
import { expect, it } from "vitest";
import { toErrorResponse } from "@/lib/service/http/route";
import { toStorageFailure } from "@/lib/service/service-error";

const getMessage = (code: string) => toStorageFailure(Object.assign(new Error("driver message"), { code }))?.message;

it.each(["SQLITE_FULL", "ENOSPC", "SQLITE_READONLY", "SQLITE_CORRUPT"])("reports that nothing was stored after %s", (code) => {
  expect(getMessage(code)).toContain("Nothing from this request was stored.");
});

it.each(["SQLITE_IOERR_FSYNC", "EIO", "STORE_AWAY"])("doesn't claim that nothing was stored after %s", (code) => {
  expect(getMessage(code)).not.toContain("Nothing from this request was stored.");
  expect(getMessage(code)).toContain("check before you send it again");
});

it.each(["SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY", "23505"])("returns 409 for a duplicate key (%s)", async (code) => {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const response = toErrorResponse(Object.assign(new Error("driver message"), { code }), { method: "POST", path: "/api/assets" }, log);
  expect([response.status, await response.json()]).toEqual([409, expect.objectContaining({ code: "CONFLICT" })]);
});
