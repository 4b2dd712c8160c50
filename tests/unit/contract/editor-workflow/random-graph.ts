// Arbitrary graphs for property tests, with known and unknown classes.
import fc from "fast-check";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";

/** Arbitrary input values, including large integers and special strings. */
const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 2, stringUnit: "binary" }),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n }),
  fc.bigInt({ min: -(2n ** 64n), max: -(2n ** 53n) }),
  fc.constantFrom("Loading...", "sample_euler", "%date:yyyy%", "{a|b} // c", ["1"], { __value__: ["1", 0] }, null),
);
const anyId = fc.oneof(fc.nat(12).map(String), fc.constantFrom("5:3", "a", "01", "constructor", "1e3", "9007199254740993", "节点 7", "-1"));
const anyLink = fc.tuple(anyId, fc.nat(4));

export function createGraphArbitrary(info: ObjectInfo) {
  const classes = [...Object.keys(info), "Unknown.Class", "Sharpen"];
  const inputNames = [
    ...new Set(Object.values(info).flatMap(({ input }) => Object.keys({ ...input?.required, ...input?.optional }))),
    ...[
      "resize_type.width",
      "resize_type.match",
      "images.image0",
      "images.image3",
      "values.a",
      "mode.factor",
      "undeclared",
      "constructor",
      "größe 寸",
    ],
  ];
  const anyNode = fc.record({
    class_type: fc.constantFrom(...classes),
    inputs: fc.dictionary(fc.constantFrom(...inputNames), fc.oneof(anyValue, anyLink), { maxKeys: 8 }),
  });
  return fc.dictionary(anyId, anyNode, { maxKeys: 8 });
}
