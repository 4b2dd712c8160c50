// Arbitrary graphs for property tests, with classes that a catalogue has and some that it lacks.
import fc from "fast-check";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";

/** Arbitrary values for all inputs of a class, and some unknown inputs. */
const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 2, stringUnit: "binary" }),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n }),
  fc.bigInt({ min: -(2n ** 64n), max: -(2n ** 53n) }),
  fc.constantFrom("Loading...", "sample_euler", "%date:yyyy%", "{a|b} // c", ["1"], { __value__: ["1", 0] }, null),
);
const ids = fc.oneof(fc.nat(12).map(String), fc.constantFrom("5:3", "a", "01", "constructor", "1e3", "9007199254740993", "节点 7", "-1"));
const link = fc.tuple(ids, fc.nat(4));

export function createGraphs(info: ObjectInfo) {
  const classes = [...Object.keys(info), "Nobody.Knows", "Sharpen"];
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
    inputs: fc.dictionary(fc.constantFrom(...inputNames), fc.oneof(anyValue, link), { maxKeys: 8 }),
  });
  return fc.dictionary(ids, anyNode, { maxKeys: 8 });
}
