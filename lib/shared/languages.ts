// The languages, and which one a person reads. Never put the language into an address: a shared link opens in the reader's own.

export const languages = ["en", "zh-CN"] as const;
export type Language = (typeof languages)[number];

export const languageNames: Readonly<Record<Language, string>> = { en: "English", "zh-CN": "简体中文" };

/** The browser writes it when a person chooses a language; other sites cannot make browsers send it. */
export const LANGUAGE_COOKIE = "lightdesk.language";

export function readLanguage(preferredLanguage: string | undefined, acceptLanguage: string | null | undefined): Language {
  return languages.find((language) => language === preferredLanguage) ?? firstAccepted(acceptLanguage ?? "") ?? "en";
}

function firstAccepted(header: string): Language | undefined {
  const preferences = header.split(",").flatMap((part) => {
    const [tag = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    const weight = quality === undefined ? 1 : Number(quality);
    const language = languageOf(tag.toLowerCase());
    return language && weight > 0 ? [{ language, weight }] : [];
  });
  return preferences.sort((preference, other) => other.weight - preference.weight)[0]?.language;
}

/** Compares the language only: for a reader of English any English is better than Chinese, and the other way round. */
function languageOf(tag: string): Language | undefined {
  return languages.find((language) => language.split("-")[0] === tag.split("-")[0]);
}
