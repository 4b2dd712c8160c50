import { describe, expect, it } from "vitest";
import { snippetOf } from "@/lib/server/jobs/job-search";
import { textsOf } from "@/lib/server/ledger/notes";
import { wordsOf } from "@/lib/server/store/jobs/ledger-words";

/** The snippet with its words in brackets. */
function marked(texts: string[], search: string): string | undefined {
  const found = snippetOf(texts, wordsOf(search));
  if (!found) return undefined;
  const starts = [0, ...found.marks.map(([, to]) => to)];
  const parts = found.marks.map(([from, to], index) => `${found.text.slice(starts[index], from)}[${found.text.slice(from, to)}]`);
  return parts.join("") + found.text.slice(starts.at(-1));
}

describe("the snippet of a found job", () => {
  it.each([
    ["every word, in any case", "sea GULL", ["A gull over the Sea, gulls"], "A [gull] over the [Sea], [gull]s"],
    ["the text with the most words", "red fox", ["red", "a red fox"], "a [red] [fox]"],
    ["a phrase across lines", '"red fox"', ["a red\n fox"], "a [red fox]"],
    ["letters that fold to two", "strasse", ["Die Straße"], "Die [Straße]"],
    ["letters beyond one code unit", "cat", ["😀😀 cat"], "😀😀 [cat]"],
    ["Chinese words", "海边", ["日落时的海边小屋"], "日落时的[海边]小屋"],
    ["markup as plain text", "img", ["<img src=x>"], "<[img] src=x>"],
    ["words that overlap once", "seas ease", ["the sease"], "the [sease]"],
  ])("marks %s", (_, search, texts, expected) => {
    expect(marked(texts, search)).toBe(expected);
  });

  it("cuts a long text around the first word, and has none where no word occurs", () => {
    const found = snippetOf([`${"a ".repeat(2000)}needle ${"b ".repeat(2000)}`], ["needle"]);
    expect(found?.text.length).toBeLessThan(150);
    expect(found?.text).toContain("needle");
    expect(snippetOf(["nothing here"], ["needle"])).toBeUndefined();
  });
});

describe("the texts of a graph", () => {
  it("begin with the positive prompt, however the nodes are ordered", () => {
    const graph = {
      "1": { class_type: "CLIPTextEncode", inputs: { text: "blurry, bad hands" } },
      "2": { class_type: "Text", inputs: { string: "a lighthouse at dawn" } },
      "3": { class_type: "CLIPTextEncode", inputs: { text: ["2", 0], clip: ["9", 1] } },
      "4": { class_type: "KSampler", inputs: { positive: ["3", 0], negative: ["1", 0], sampler_name: "euler" } },
      "9": { class_type: "Loader", inputs: { ckpt_name: "a model.safetensors" } },
    };
    expect(textsOf(graph).split("\n")[0]).toBe("a lighthouse at dawn");
    expect(textsOf({ "1": { inputs: { positive: ["1", 0] } }, "2": { inputs: { positive: ["__proto__", 0] } } })).toBe("");
  });
});
