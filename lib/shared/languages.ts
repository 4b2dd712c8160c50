// The supported languages, and the choice for a request. URLs never contain the language, so that shared links open in the reader's language.

export const languages = ["en", "zh-CN"] as const;
export type Language = (typeof languages)[number];

export const languageNames: Readonly<Record<Language, string>> = { en: "English", "zh-CN": "简体中文" };

/** Set by the browser when a user chooses a language. Other sites can't make browsers send it. */
export const LANGUAGE_COOKIE = "lightdesk.language";

export function chooseLanguage(preferredLanguage: string | undefined, acceptLanguage: string | null | undefined): Language {
  return languages.find((language) => language === preferredLanguage) ?? findAcceptedLanguage(acceptLanguage ?? "") ?? "en";
}

function findAcceptedLanguage(header: string): Language | undefined {
  const preferences = header.split(",").flatMap((part) => {
    const [tag = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    const weight = quality === undefined ? 1 : Number(quality);
    const language = findLanguage(tag.toLowerCase());
    return language && weight > 0 ? [{ language, weight }] : [];
  });
  return preferences.sort((a, b) => b.weight - a.weight)[0]?.language;
}

/** Ignores the region, because English readers prefer any English to Chinese, and vice versa. */
function findLanguage(tag: string): Language | undefined {
  return languages.find((language) => language.split("-")[0] === tag.split("-")[0]);
}
