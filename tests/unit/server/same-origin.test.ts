import { expect, test } from "vitest";
import { isSameOrigin } from "@/lib/server/bff/guard";

const from = (headers: Record<string, string>) => new Request("http://0.0.0.0:3000/api/queue", { method: "POST", headers });

test("the page's own origin is the Host that it was opened at, not the address in the request's URL", () => {
  expect(isSameOrigin(from({ host: "desk:3000", origin: "http://desk:3000" }), undefined)).toBe(true);
  expect(isSameOrigin(from({ host: "desk:3000", origin: "http://0.0.0.0:3000" }), undefined)).toBe(false);
  expect(isSameOrigin(from({ host: "desk:3000", origin: "http://desk" }), undefined)).toBe(false);
});

test("behind a public address that address counts, whatever Host the proxy writes", () => {
  const publicUrl = "https://desk.example.com";
  expect(isSameOrigin(from({ host: "10.0.0.5:3000", origin: publicUrl }), publicUrl)).toBe(true);
  expect(isSameOrigin(from({ host: "desk.example.com", origin: "http://desk.example.com" }), publicUrl)).toBe(false);
  expect(isSameOrigin(from({ host: "desk.example.com", origin: "https://desk.example.com.evil.example" }), publicUrl)).toBe(false);
});

test("what the browser says of the site counts beside the origin", () => {
  expect(isSameOrigin(from({ host: "desk", "sec-fetch-site": "same-origin" }), undefined)).toBe(true);
  for (const site of ["cross-site", "same-site", "something new"]) {
    expect(isSameOrigin(from({ host: "desk", origin: "http://desk", "sec-fetch-site": site }), undefined)).toBe(false);
  }
});
