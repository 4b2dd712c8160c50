"use client";

import { useLocale, useTranslations } from "next-intl";
import { Select } from "@/components/ui/controls/fields";
import { useRouter } from "@/components/ui/link";
import { type Language, LANGUAGE_COOKIE, languageNames, languages } from "@/lib/shared/languages";

/** Each language is shown in its own name, so that its readers can find it. */
export function LanguageSwitch() {
  const t = useTranslations("frame.language");
  const { language, change } = useLanguage();
  return (
    <Select
      aria-label={t("label")}
      value={language}
      onChange={(event) => {
        const language = languages.find((name) => name === event.target.value);
        if (language) change(language);
      }}
    >
      {languages.map((name) => (
        <option key={name} value={name} lang={name}>
          {languageNames[name]}
        </option>
      ))}
    </Select>
  );
}

const COOKIE_MAX_AGE_S = 365 * 24 * 60 * 60;

/** The page's language and its setter, which renders the page again and keeps input. */
export function useLanguage() {
  const router = useRouter();
  function change(language: Language) {
    document.cookie = `${LANGUAGE_COOKIE}=${language}; path=/; max-age=${COOKIE_MAX_AGE_S}; samesite=lax`;
    router.refresh();
  }
  return { language: useLocale(), change };
}
