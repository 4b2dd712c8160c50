// Changes of assets, and questions about them, for property tests.
import fc from "fast-check";
import { KINDS, PLACES, WORDS } from "@/tests/bench/service/seed-assets";
import { evenly } from "@/tests/support/evenly";

export const ASSETS = 2500;
const sorts = ["created_at", "updated_at", "name", "size", "last_access_time"] as const;
const NAMES = [...WORDS, "", "Straße", "ＦＵＬＬ", "𝒜 letter", "a", "ab", "zz top"];

const tag = fc.constantFrom(...KINDS.slice(0, 4), ...PLACES.slice(0, 4), "input", "new", "none-such");
export const change = fc.record({
  kind: fc.constantFrom("create", "delete", "tag", "untag", "rename", "metadata", "access", "size", "ship", "undo", "many"),
  at: fc.nat(ASSETS),
  time: fc.nat(1e6),
  name: fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...NAMES), fc.nat(50)).map((parts) => parts.join(" ")),
  tags: fc.uniqueArray(tag, { maxLength: 3 }),
  width: fc.constantFrom(256, 300),
});
export const question = fc.record({
  include_tags: fc.uniqueArray(tag, { maxLength: 2 }),
  exclude_tags: fc.uniqueArray(tag, { maxLength: 1 }),
  name_contains: fc.oneof(
    fc.constant(""),
    fc.constantFrom(...NAMES),
    fc.constantFrom("o", "in", "RAIT", "y 00", ".png", "SS", "ull", "e ", "𝒜"),
  ),
  width: fc.option(fc.constantFrom(256, 300), { nil: undefined, freq: 4 }),
  include_public: fc.boolean(),
  sort: fc.constantFrom(...sorts),
  order: fc.constantFrom("asc" as const, "desc" as const),
  limit: fc.integer({ min: 1, max: 60 }),
  // The start of the list, positions throughout it, and some beyond its end.
  depth: fc.oneof(fc.constant(0), evenly(0, 1.1)),
});
export type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
export type Question = typeof question extends fc.Arbitrary<infer T> ? T : never;
