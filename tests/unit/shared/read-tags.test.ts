import { expect, it } from "vitest";
import { readTags } from "@/lib/shared/text";

it.each([
  ["campaign hero, approved", ["campaign hero", "approved"]],
  [" a ,, b\na，ｂ ", ["a", "b", "ｂ"]],
  [" , \n", []],
])("%j is the tags %j", (text, tags) => {
  expect(readTags(text)).toEqual(tags);
});
