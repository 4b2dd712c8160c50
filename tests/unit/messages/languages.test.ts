// Every language has all English messages, with the same arguments, translated.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it, test } from "vitest";
import { messagesByLanguage } from "@/lib/server/i18n/messages";
import { chooseLanguage, type Language, languages } from "@/lib/shared/languages";
import { parseIcuArguments } from "@/tests/support/icu";

/** Maps each message's key path to its text. */
function flatten(value: unknown, path = ""): Map<string, string> {
  if (typeof value === "string") return new Map([[path, value]]);
  const entries = Object.entries(value ?? {}).flatMap(([key, inner]) => [...flatten(inner, path ? `${path}.${key}` : key)]);
  return new Map(entries);
}

const englishMessages = flatten(messagesByLanguage.en);
const messageSets = languages.map((language) => [language, flatten(messagesByLanguage[language])] as const);
const translations = messageSets.flatMap(([language, sentences]) => (language === "en" ? [] : [[language, sentences] as const]));

/** Words that are the same in every language. */
const untranslatedWords = /^(Lightdesk|Esc|null|URL|GPU|JSON|CSV|3D|class_type|extra_data)$/;
function getTranslatableWords(message: string): string[] {
  const plain = message.replace(/'[{}][^']*'/g, "").replace(/\{\w+(, \w+)?\}/g, "");
  return plain.split(/[^\p{L}_]+/u).filter((word) => /\p{L}/u.test(word) && !untranslatedWords.test(word));
}

/** Latin words that Chinese messages may contain: products, formats, menu names, protocol terms and keys. */
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

/** `sameAsEnglish` lists keys whose text may equal English. `latin` lists the Latin words that another script may contain. */
type LanguageRules = { sameAsEnglish: readonly string[]; latin?: ReadonlySet<string> };
const languageRules: Readonly<Record<Exclude<Language, "en">, LanguageRules>> = { "zh-CN": { sameAsEnglish: [], latin: namesInChinese } };

/** Returns the Latin words after removing arguments, ICU keywords and API paths. */
function getLatinWords(message: string): string[] {
  const flattened = /, (plural|select),/.test(message)
    ? message.replace(/[\w=]+ \{/g, "[").replace(/\{\w+, (plural|select),/g, "")
    : message;
  const text = flattened
    .replace(/'\{' .*? '\}'|'[{}][^']*'/g, "")
    .replace(/\{\w+(, number(, percent)?)?\}/g, "")
    .replace(/\/api\b/g, "");
  return text.match(/[A-Za-z_]+/g) ?? [];
}

describe.each(translations)("translation to %s", (language, sentences) => {
  it("has the same keys as English", () => {
    const missing = [...englishMessages.keys()].filter((key) => !sentences.has(key));
    const extra = [...sentences.keys()].filter((key) => !englishMessages.has(key));
    expect({ missing, extra }).toEqual({ missing: [], extra: [] });
  });

  it("uses the same arguments as English", () => {
    const getArguments = (message: string) =>
      [...new Set(parseIcuArguments(message).map(({ name, kind }) => `${name} ${kind === "number" ? "value" : kind}`))].sort();
    const mismatched = [...englishMessages].filter(
      ([key, message]) => `${getArguments(message)}` !== `${getArguments(sentences.get(key) ?? "")}`,
    );
    expect(mismatched.map(([key]) => key)).toEqual([]);
  });

  it("selects the same keywords as English", () => {
    const getChoices = (message: string) =>
      parseIcuArguments(message)
        .filter(({ kind }) => kind === "select")
        .map(({ name, cases }) => `${name}: ${cases.toSorted()}`);
    const mismatched = [...englishMessages].filter(
      ([key, message]) => `${getChoices(message)}` !== `${getChoices(sentences.get(key) ?? "")}`,
    );
    expect(mismatched.map(([key]) => key)).toEqual([]);
  });

  it("contains no English", () => {
    const { sameAsEnglish, latin } = languageRules[language];
    const same = [...englishMessages].filter(
      ([key, message]) => getTranslatableWords(message).length > 0 && sentences.get(key) === message,
    );
    expect(same.map(([key]) => key)).toEqual(sameAsEnglish);
    const untranslated = latin && [...sentences].filter(([, message]) => getLatinWords(message).some((word) => !latin.has(word)));
    expect(untranslated ?? []).toEqual([]);
  });
});

describe.each(messageSets)("plurals in %s", (language, sentences) => {
  it("uses only the language's plural categories", () => {
    const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    const invalidMessages = [...sentences].filter(([, message]) =>
      parseIcuArguments(message)
        .filter(({ kind }) => kind === "plural")
        .some(({ cases }) => {
          const forms = cases.filter((form) => !form.startsWith("="));
          return !forms.includes("other") || forms.some((form) => !categories.some((category) => category === form));
        }),
    );
    expect(invalidMessages.map(([key]) => key)).toEqual([]);
  });
});

describe("choosing the language", () => {
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
  ])("returns the language for choice %s and header %s: %s", (chosen, accepted, language) => {
    expect(chooseLanguage(chosen, accepted)).toBe(language);
  });
});

const forbiddenPhrases = [
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

const readMessages = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => getSentences(JSON.parse(readFileSync(join(folder, name), "utf8"))));

function getSentences(value: unknown): string[] {
  return typeof value === "string" ? [value] : Object.values(value ?? {}).flatMap(getSentences);
}

/** Returns every string in a source file. */
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

const readCode = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(tsx?|mjs)$/.test(name))
    .flatMap((name) => getTexts(join(folder, name)));

test.each([
  ["messages", () => readMessages("lib/messages"), 2_000],
  ["source code", () => ["lib", "app", "components", "bin"].flatMap(readCode), 10_000],
])("uses no forbidden phrase in %s", (_, read, minSentences) => {
  const sentences = read();
  expect(sentences.length).toBeGreaterThan(minSentences);
  const forbiddenSentences = sentences.filter((sentence) => forbiddenPhrases.some((phrase) => sentence.toLowerCase().includes(phrase)));
  expect(forbiddenSentences).toEqual([]);
});
