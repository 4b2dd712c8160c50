// The languages of the product, and which of them a person reads.
// Guarantees: whatever a cookie or a header says, the answer is a language that exists.
// Must never: put the language into the address; a link shared in a team opens in the reader's own.

export const languages = ["en", "zh-CN"] as const;
export type Language = (typeof languages)[number];

/** Each in its own words, so that whoever reads no other finds it. */
export const languageNames: Readonly<Record<Language, string>> = { en: "English", "zh-CN": "简体中文" };

/** Written by the browser when a person chooses; no other site may have it sent. */
export const LANGUAGE_COOKIE = "lightdesk.language";

/** What was chosen, else what the browser asks for first among those that exist, else English. */
export function readLanguage(chosen: string | undefined, acceptLanguage: string | null | undefined): Language {
  return languages.find((language) => language === chosen) ?? firstAccepted(acceptLanguage ?? "") ?? "en";
}

function firstAccepted(header: string): Language | undefined {
  const wanted = header.split(",").flatMap((part) => {
    const [tag = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    const weight = quality === undefined ? 1 : Number(quality);
    const language = languageOf(tag.toLowerCase());
    return language && weight > 0 ? [{ language, weight }] : [];
  });
  return wanted.sort((one, other) => other.weight - one.weight)[0]?.language;
}

/** By the language alone: any English is nearer to a reader of English than Chinese, and the other way round. */
function languageOf(tag: string): Language | undefined {
  return languages.find((language) => language.split("-")[0] === tag.split("-")[0]);
}
