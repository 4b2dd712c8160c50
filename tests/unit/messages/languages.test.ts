// Every language has all English messages, with the same arguments, translated.
import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { describe, expect, it } from "vitest";
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

  it("uses the same arguments and select keywords as English", () => {
    const describeArguments = (message: string) => {
      const parts = parseIcuArguments(message);
      const names = parts.map(({ name, kind }) => `${name} ${kind === "number" ? "value" : kind}`);
      const choices = parts.flatMap(({ name, kind, cases }) => (kind === "select" ? [`${name}: ${cases.toSorted()}`] : []));
      return `${[...new Set(names)].sort()} ${choices}`;
    };
    const mismatched = [...englishMessages].filter(
      ([key, message]) => describeArguments(message) !== describeArguments(sentences.get(key) ?? ""),
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

/** Lists translation calls. `valueNames` is undefined if the values aren't an object literal. */
function listTranslationCalls(): { key: string; valueNames: Set<string> | undefined; location: string }[] {
  const files = ["app", "components", "lib"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((file) => (/\.tsx?$/.test(file) ? [`${folder}/${file}`] : [])),
  );
  return files.flatMap((file) => {
    const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
    const calls: ReturnType<typeof listTranslationCalls> = [];
    const visit = (node: ts.Node): void => {
      ts.forEachChild(node, visit);
      if (!ts.isCallExpression(node) || !/^t\w*(\.rich|\.markup)?$/.test(node.expression.getText())) return;
      const [key, values] = node.arguments;
      if (!key || !ts.isStringLiteral(key)) return;
      const properties = values && ts.isObjectLiteralExpression(values) ? [...values.properties] : undefined;
      const hasOtherValues = values && (!properties || properties.some(ts.isSpreadAssignment));
      const valueNames = hasOtherValues ? undefined : new Set(properties?.map(({ name }) => name?.getText() ?? ""));
      calls.push({ key: key.text, valueNames, location: `${file}: ${key.text}` });
    };
    visit(source);
    return calls;
  });
}

it("passes every required value to each message", () => {
  const valuesOfMessages = [...englishMessages].map(([path, message]) => [`.${path}`, parseIcuArguments(message)] as const);
  const callsWithoutValues = listTranslationCalls().filter(({ key, valueNames }) => {
    // The namespace isn't visible here, so every message path that ends with the key is a candidate.
    const candidates = valuesOfMessages.filter(([path]) => path.endsWith(`.${key}`));
    return valueNames && candidates.length > 0 && !candidates.some(([, values]) => values.every(({ name }) => valueNames.has(name)));
  });
  expect(callsWithoutValues.map(({ location }) => location)).toEqual([]);
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
