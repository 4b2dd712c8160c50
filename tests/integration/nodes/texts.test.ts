// Limits on texts per value, per job and per shown output. The node fails and the worker continues.
import { describe, expect, it } from "vitest";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { MAX_TEXT_BYTES } from "@/lib/service/nodes/definition";
import { openTestRunner, runGraph } from "./support";

const testRunner = openTestRunner();

const createTextNode = (value: string) => ({ class_type: "PrimitiveString", inputs: { value } });
const createJoinNode = (a: unknown, b: unknown) => ({
  class_type: "StringConcatenate",
  inputs: { string_a: a, string_b: b, delimiter: "" },
});
const createPreviewNode = (source: unknown) => ({ class_type: "PreviewAny", inputs: { source } });
const createNumberedNodes = (count: number, createEntry: (index: number) => [string, Graph[string]]): Graph =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => createEntry(index)));

describe("a value shown as text", () => {
  it.each([
    ["PrimitiveFloat", 1, "1.0"],
    ["PrimitiveFloat", 0.1, "0.1"],
    ["PrimitiveFloat", 0.00001, "1e-05"],
    ["PrimitiveFloat", 1e16, "1e+16"],
    ["PrimitiveFloat", -2.5e-7, "-2.5e-07"],
    ["PrimitiveInt", "12", "12"],
    ["PrimitiveInt", true, "1"],
    ["PrimitiveBoolean", 1, "True"],
    ["PrimitiveBoolean", null, "False"],
    ["PrimitiveString", "as it is", "as it is"],
    ["PrimitiveString", false, "False"],
  ])("reads %s %j as %j", async (class_type, value, expected) => {
    const { texts } = await runGraph(testRunner, { a: { class_type, inputs: { value } }, o: createPreviewNode(["a", 0]) });
    expect(texts).toEqual([expected]);
  });

  it.each([
    [null, "None"],
    [true, "True"],
    [{ a: [1, "b"] }, '{\n    "a": [\n        1,\n        "b"\n    ]\n}'],
    [{ __value__: ["x"] }, '[\n    "x"\n]'],
  ])("shows the literal %j as %j", async (source, expected) => {
    expect((await runGraph(testRunner, { o: createPreviewNode(source) })).texts).toEqual([expected]);
  });
});

it.each([
  ["5.0", "5.0"],
  ["1e3", "1000.0"],
  ["5", "5"],
  ["0.5", "0.5"],
  ["1e-7", "1e-07"],
  ["1e+21", "1e+21"],
  ["-0.0", "-0.0"],
  ["-0", "0"],
])("prints the literal number %s like Python: %s", async (number, expected) => {
  for (const literal of [number, `{"__value__":${number}}`]) {
    const text = `"t":{"class_type":"PrimitiveString","inputs":{"value":${literal}}}`;
    const previews = [literal, '["t",0]'].map((source, index) => `"o${index}":{"class_type":"PreviewAny","inputs":{"source":${source}}}`);
    expect((await runGraph(testRunner, parseExactJson<Graph>(`{${text},${previews.join()}}`))).texts).toEqual([expected, expected]);
  }
});

it("distinguishes -0.0 from 0.0 in the cache", async () => {
  const runFloat = async (number: string) => {
    const float = `"f":{"class_type":"PrimitiveFloat","inputs":{"value":${number}}}`;
    const graph = parseExactJson<Graph>(`{${float},"o":{"class_type":"PreviewAny","inputs":{"source":["f",0]}}}`);
    return (await runGraph(testRunner, graph, { cacheDir: "/zeros" })).texts;
  };
  expect([await runFloat("0.0"), await runFloat("-0.0"), await runFloat("-0")]).toEqual([["0.0"], ["-0.0"], ["0.0"]]);
});

describe("texts", () => {
  it("fail a doubling job at 1 MiB with a short error", async () => {
    const doublingNodes = createNumberedNodes(26, (n) => [`n${n + 1}`, createJoinNode([`n${n}`, 0], [`n${n}`, 0])]);
    const { outcome, texts } = await runGraph(testRunner, { n0: createTextNode("ab"), ...doublingNodes, o: createPreviewNode(["n26", 0]) });
    expect(outcome).toMatchObject({
      kind: "error",
      error: { node_id: "n20", exception_type: "OOMError", exception_message: expect.stringContaining("larger than 1 MiB") },
    });
    expect(JSON.stringify(outcome).length).toBeLessThan(10_000);
    expect(texts).toEqual([]);
    expect((await runGraph(testRunner, { o: createPreviewNode("fine") })).outcome).toEqual({ kind: "success" });
  });

  it("are measured in bytes", async () => {
    const maxText = "é".repeat(MAX_TEXT_BYTES / 2);
    expect((await runGraph(testRunner, { a: createTextNode(maxText), o: createPreviewNode(["a", 0]) })).outcome).toEqual({
      kind: "success",
    });
    const { outcome } = await runGraph(testRunner, { a: createTextNode(`${maxText}x`), o: createPreviewNode(["a", 0]) });
    expect(outcome).toMatchObject({ kind: "error", error: { node_id: "a", exception_type: "OOMError" } });
  });

  it("are limited per job, including cached ones", async () => {
    const graph = {
      a: createTextNode("x".repeat(MAX_TEXT_BYTES)),
      ...createNumberedNodes(5, (n) => [`o${n}`, createPreviewNode(["a", 0])]),
    };
    for (const cacheDir of [undefined, "/mine", "/mine"]) {
      const { outcome, texts } = await runGraph(testRunner, graph, cacheDir === undefined ? {} : { cacheDir });
      expect(outcome).toMatchObject({ kind: "error", error: { node_id: "o4", exception_type: "OOMError" } });
      expect(texts).toHaveLength(4);
    }
  });

  it("are limited in total while a job uses them", async () => {
    const longText = "x".repeat(MAX_TEXT_BYTES - 1);
    const readers = createNumberedNodes(20, (n) => [`j${n}`, createJoinNode([`t${n}`, 0], "")]);
    const graph = {
      a: createTextNode(longText),
      ...createNumberedNodes(20, (n) => [`t${n}`, createJoinNode(["a", 0], String(n % 10))]),
      all: { class_type: "Wait", inputs: { seconds: 0, anything: ["t19", 0] } },
      ...readers,
      ...createNumberedNodes(20, (n) => [`o${n}`, createPreviewNode([`j${n}`, 0])]),
    };
    const { outcome } = await runGraph(testRunner, graph);
    expect(outcome).toMatchObject({
      kind: "error",
      error: { exception_type: "OOMError", exception_message: expect.stringContaining("16 MiB") },
    });
  });

  it("are truncated in errors", async () => {
    const longText = "y".repeat(500_000);
    const { outcome } = await runGraph(testRunner, {
      a: createTextNode(longText),
      f: { class_type: "Fail", inputs: { message: ["a", 0], anything: ["a", 0] }, _meta: { title: longText } },
      o: createPreviewNode(["f", 0]),
    });
    expect(outcome).toMatchObject({ kind: "error", error: { node_id: "f", exception_type: "RuntimeError" } });
    expect(JSON.stringify(outcome).length).toBeLessThan(20_000);
  });
});
