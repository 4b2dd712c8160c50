// Every language has all English messages, with the same arguments, translated.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it, test } from "vitest";
import { messagesByLanguage } from "@/lib/server/i18n/messages";
import { chooseLanguage, type Language, languages } from "@/lib/shared/languages";
import { icuArguments } from "@/tests/support/icu";

/** Sentences by the path of their key. */
function flatten(value: unknown, path = ""): Map<string, string> {
  if (typeof value === "string") return new Map([[path, value]]);
  const entries = Object.entries(value ?? {}).flatMap(([key, inner]) => [...flatten(inner, path ? `${path}.${key}` : key)]);
  return new Map(entries);
}

const inEnglish = flatten(messagesByLanguage.en);
const all = languages.map((language) => [language, flatten(messagesByLanguage[language])] as const);
const translations = all.flatMap(([language, sentences]) => (language === "en" ? [] : [[language, sentences] as const]));

/** The same in every language: signs, names, keys of the keyboard, and messages that consist of arguments only. */
const nothingToTranslate = /^(Lightdesk|Esc|null|URL|GPU|JSON|CSV|3D|class_type|extra_data)$/;
function words(message: string): string[] {
  const plain = message.replace(/'[{}][^']*'/g, "").replace(/\{\w+(, \w+)?\}/g, "");
  return plain.split(/[^\p{L}_]+/u).filter((word) => /\p{L}/u.test(word) && !nothingToTranslate.test(word));
}

/** Words in Latin letters that a Chinese sentence may contain: products, formats, menus of other programs, wire words, keys. */
const namesInChinese = new Set(
  [
    "Lightdesk JSON PNG JPEG WebP SVG CSV URL API GPU ID A Z D B Ctrl Esc Enter Shift Tab",
    "class_type extra_data code workflows null V http https ada example com SaveImage Workflow Export Set up blake BLAKE sha time",
    "Key Authorization Bearer LIGHTDESK_TOKEN connection JOB_ID Python requests openapi json tokens document",
    "Webhook Webhooks Standard Slack Discord ntfy LIGHTDESK_TRUSTED_HOSTS",
    "ComfyUI listen ZIP kB true false DS_Store Alt camera lens",
    "app localhost HS JWKS RSA EC P Ed SECRET kid html aud iss sub jti iat exp Cookie host id page doctor Content Security Policy X Frame Options",
  ].flatMap((line) => line.split(" ")),
);

/** `sameAsEnglish`: keys of sentences that may equal the English ones. `latin`: for other scripts, the words allowed in Latin letters. */
type Own = { sameAsEnglish: readonly string[]; latin?: ReadonlySet<string> };
const ownTerms: Readonly<Record<Exclude<Language, "en">, Own>> = { "zh-CN": { sameAsEnglish: [], latin: namesInChinese } };

/** The words in Latin letters after removing arguments, the words of ICU and addresses. */
function latinWords(message: string): string[] {
  const chosen = /, (plural|select),/.test(message) ? message.replace(/[\w=]+ \{/g, "[").replace(/\{\w+, (plural|select),/g, "") : message;
  const text = chosen
    .replace(/'\{' .*? '\}'|'[{}][^']*'/g, "")
    .replace(/\{\w+(, number(, percent)?)?\}/g, "")
    .replace(/\/api\b/g, "");
  return text.match(/[A-Za-z_]+/g) ?? [];
}

describe.each(translations)("messages in %s", (language, sentences) => {
  it("have the same keys as English", () => {
    const missing = [...inEnglish.keys()].filter((key) => !sentences.has(key));
    const extra = [...sentences.keys()].filter((key) => !inEnglish.has(key));
    expect({ missing, extra }).toEqual({ missing: [], extra: [] });
  });

  it("use the same arguments as English", () => {
    const names = (message: string) =>
      [...new Set(icuArguments(message).map(({ name, kind }) => `${name} ${kind === "number" ? "value" : kind}`))].sort();
    const unlike = [...inEnglish].filter(([key, message]) => `${names(message)}` !== `${names(sentences.get(key) ?? "")}`);
    expect(unlike.map(([key]) => key)).toEqual([]);
  });

  it("select the same keywords as the code", () => {
    const choices = (message: string) =>
      icuArguments(message)
        .filter(({ kind }) => kind === "select")
        .map(({ name, cases }) => `${name}: ${cases.toSorted()}`);
    const unlike = [...inEnglish].filter(([key, message]) => `${choices(message)}` !== `${choices(sentences.get(key) ?? "")}`);
    expect(unlike.map(([key]) => key)).toEqual([]);
  });

  it("contain no English", () => {
    const { sameAsEnglish, latin } = ownTerms[language];
    const same = [...inEnglish].filter(([key, message]) => words(message).length > 0 && sentences.get(key) === message);
    expect(same.map(([key]) => key)).toEqual(sameAsEnglish);
    const untranslated = latin && [...sentences].filter(([, message]) => latinWords(message).some((word) => !latin.has(word)));
    expect(untranslated ?? []).toEqual([]);
  });
});

describe.each(all)("plurals in %s", (language, sentences) => {
  it("have a form for every plural category of the language", () => {
    const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    const wrongArguments = [...sentences].filter(([, message]) =>
      icuArguments(message)
        .filter(({ kind }) => kind === "plural")
        .some(({ cases }) => {
          const forms = cases.filter((form) => !form.startsWith("="));
          return !forms.includes("other") || forms.some((form) => !categories.some((category) => category === form));
        }),
    );
    expect(wrongArguments.map(([key]) => key)).toEqual([]);
  });
});

describe("the reader's language", () => {
  it.each([
    [undefined, undefined, "en"],
    [undefined, "", "en"],
    [undefined, "en-GB,en;q=0.9", "en"],
    [undefined, "zh-CN,zh;q=0.9,en;q=0.8", "zh-CN"],
    [undefined, "zh", "zh-CN"],
    [undefined, "zh-Hans-SG", "zh-CN"],
    [undefined, "tlh,zh;q=0.5,en;q=0.7", "en"],
    [undefined, "tlh, vo", "en"],
    [undefined, "zh;q=0, en", "en"],
    [undefined, ";;q=,,=zh;q=x", "en"],
    ["en", "zh-CN", "en"],
    ["zh-CN", "en-GB", "zh-CN"],
    ["klingon", "zh-CN", "zh-CN"],
  ])("with %s chosen and %s accepted, uses %s", (chosen, accepted, language) => {
    expect(chooseLanguage(chosen, accepted)).toBe(language);
  });
});

const forbidden = [
  "run of a workflow stands here",
  "put nothing out",
  "failed in the job's details",
  "bytes go with the last",
  "say from which",
  "commas between",
  "is in its place",
  "what is wrong stands",
  "send it all the same",
  "leaves no trace",
  "may look but not run",
  "invited with the role",
  "present password",
  "goes by that name",
  "value out of the job",
  "let go of the selection",
  "what stood here",
  "does not reach that far",
  "lowered meanwhile",
  "wants to know who",
  "stands where a folder",
  "no content of yours",
  "asset of yours",
  "do not come at the moment",
  "holds no such",
  "as may be at once",
  "can mend",
  "not there any more",
  "laid out anew",
  "the page around",
  "what you may do here",
];

const pages = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => getSentences(JSON.parse(readFileSync(join(folder, name), "utf8"))));

function getSentences(value: unknown): string[] {
  return typeof value === "string" ? [value] : Object.values(value ?? {}).flatMap(getSentences);
}

/** Every string in a file of code, without its comments. */
function getTexts(path: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, false, ts.ScriptKind.TSX);
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddle(node) ||
      ts.isTemplateTail(node) ||
      ts.isJsxText(node)
    )
      texts.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts;
}

const code = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(tsx?|mjs)$/.test(name))
    .flatMap((name) => getTexts(join(folder, name)));

test.each([
  ["the pages", () => pages("lib/messages"), 2_000],
  ["the console, the service and the commands", () => ["lib", "app", "components", "bin"].flatMap(code), 10_000],
])("%s use none of the forbidden words", (_, read, least) => {
  const sentences = read();
  expect(sentences.length).toBeGreaterThan(least);
  const forbiddenSentences = sentences.filter((sentence) => forbidden.some((words) => sentence.toLowerCase().includes(words)));
  expect(forbiddenSentences).toEqual([]);
});
