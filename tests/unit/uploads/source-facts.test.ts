import { expect, test } from "vitest";
import { toCheck } from "@/components/transfers/downloads/address-line";
import { failed, ok } from "@/lib/shared/result";

const factsOf = (metadata: unknown) => {
  const check = toCheck(ok(metadata));
  return check.kind === "known" ? check.facts : undefined;
};

test("a picture is shown only where it is in the answer itself", () => {
  const inside = "data:image/png;base64,AAAA";
  expect(factsOf({ preview_image: inside })?.picture).toBe(inside);
  for (const elsewhere of ["https://tracker.example/a.png", "data:text/html;base64,AAAA", "data:image/svg+xml;base64,AAAA", 7, null])
    expect(factsOf({ preview_image: elsewhere })?.picture).toBeUndefined();
});

test("name and size are taken where they make sense, and refusals are bounded", () => {
  expect(factsOf({ filename: "film.bin", content_length: 12 })).toMatchObject({
    name: "film.bin",
    sizeBytes: 12,
    errors: [],
    warnings: [],
  });
  expect(factsOf({ name: " ", content_length: -1 })).toEqual({ errors: [], warnings: [] });
  const errors = Array.from({ length: 9 }, (_, at) => ({ message: `wrong ${at}` }));
  expect(factsOf({ validation: { is_valid: false, errors, warnings: ["odd", { code: "OLD" }, 7] } })).toMatchObject({
    errors: ["wrong 0", "wrong 1", "wrong 2", "wrong 3", "wrong 4"],
    warnings: ["odd", "OLD"],
  });
  expect(factsOf({ validation: { is_valid: true, errors } })?.errors).toEqual([]);
});

test("a service that tells nothing beforehand is distinguished from one that refuses", () => {
  const refusal = (status: number, code = "X") => toCheck(failed({ status, code, message: "" })).kind;
  expect([refusal(404), refusal(501, "NOT_IMPLEMENTED")]).toEqual(["unsupported", "unsupported"]);
  expect([400, 403, 500, 0].map((status) => refusal(status))).toEqual(["refused", "refused", "refused", "refused"]);
});
