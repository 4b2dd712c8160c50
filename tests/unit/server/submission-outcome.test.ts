import { expect, test } from "vitest";
import { toKept } from "@/lib/server/prompts/submit-once";

test("of an answer that is too long to keep the job's id is kept, also where it is a number beyond what a double holds", () => {
  const long = (id: string) => `{"prompt_id":${id},"node_errors":{"1":"${"x".repeat(70_000)}"}}`;
  for (const id of ['"job-1"', "18446744073709551615"]) expect(toKept(long(id))).toBe(`{"prompt_id":${id}}`);
});
