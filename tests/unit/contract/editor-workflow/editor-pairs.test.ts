// Compares converted editor files with the graphs that the editor sends for them.
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { toApiWorkflow } from "@/lib/contract/editor-workflow";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { toComparable } from "./to-comparable";

const folder = "tests/fixtures/editor-pairs";
const readFixture = (name: string): unknown => JSON.parse(readFileSync(`${folder}/${name}`, "utf8"));
const info = objectInfoSchema.parse(readFixture("object-info.json"));
const names = readdirSync(folder).flatMap((file) => (file.endsWith(".editor.json") ? file.replace(".editor.json", "") : []));

test.for(names)("converts %s to the graph that the editor sends", (name) => {
  const { graph } = toApiWorkflow(readFixture(`${name}.editor.json`), info);
  expect(toComparable(graph, info)).toEqual(toComparable(readFixture(`${name}.api.json`), info));
});
