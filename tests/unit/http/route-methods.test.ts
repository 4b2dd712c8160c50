import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { judgeMethods } from "@/lib/http/routes";

const judge = judgeMethods({
  "/api/[...unknown]": ["GET", "POST"],
  "/api/jobs": ["GET"],
  "/api/jobs/[jobId]": ["GET", "DELETE"],
  "/api/jobs/cancel": ["POST"],
  "/api/userdata/[...file]": ["GET", "POST"],
  "/api/openapi.json": ["GET"],
});

function asked(method: string, url: string): unknown {
  const refused = judge(Object.assign(new IncomingMessage(new Socket()), { method, url }));
  return refused && [refused.status, refused.code, refused.headers?.allow];
}

test("a method that an address has not is refused with those that it has", () => {
  expect(asked("PATCH", "/api/jobs?limit=1")).toEqual([405, "METHOD_NOT_ALLOWED", "GET, HEAD, OPTIONS"]);
  expect(asked("GET", "/api/jobs/cancel")).toEqual([405, "METHOD_NOT_ALLOWED", "OPTIONS, POST"]);
  expect(asked("POST", "/api/jobs/cancelled")).toEqual([405, "METHOD_NOT_ALLOWED", "DELETE, GET, HEAD, OPTIONS"]);
  expect(asked("DELETE", "/api/userdata/a/b%2Fc.json")).toEqual([405, "METHOD_NOT_ALLOWED", "GET, HEAD, OPTIONS, POST"]);
});

test("a method that no address has is a bad request", () => {
  expect(asked("PROPFIND", "/api/jobs")).toEqual([400, "BAD_REQUEST", undefined]);
});

test("what an address has, HEAD where it has GET, and OPTIONS are let through, and so are pages and what is nowhere", () => {
  for (const [method, url] of [
    ["GET", "/api/jobs"],
    ["HEAD", "/api/jobs"],
    ["OPTIONS", "/api/jobs/cancel"],
    ["POST", "/api/jobs/cancel"],
    ["POST", "/api/jobs/1/2"],
    ["POST", "/api/openapi_json"],
    ["PUT", "/jobs"],
    ["PUT", "/apiary"],
    ["PUT", "/api"],
  ] as const)
    expect(asked(method, url), `${method} ${url}`).toBeUndefined();
});
