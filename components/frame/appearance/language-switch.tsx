"use client";

import { useLocale, useTranslations } from "next-intl";
import { Select } from "@/components/ui/controls/fields";
import { useRouter } from "@/components/ui/link";
import { type Language, LANGUAGE_COOKIE, languageNames, languages } from "@/lib/shared/languages";

/** Lists each language by its own name, so that its speakers can find it. */
export function LanguageSwitch() {
  const t = useTranslations("frame.language");
  const { language, changeLanguage } = useLanguage();
  return (
    <Select
      aria-label={t("label")}
      value={language}
      onChange={(event) => {
        const selectedLanguage = languages.find((name) => name === event.target.value);
        if (selectedLanguage) changeLanguage(selectedLanguage);
      }}
    >
      {languages.map((language) => (
        <option key={language} value={language} lang={language}>
          {languageNames[language]}
        </option>
      ))}
    </Select>
  );
}

const COOKIE_MAX_AGE_S = 365 * 24 * 60 * 60;

/** Returns the page's language and a setter. Changing it renders the page again and keeps unsaved input. */
export function useLanguage() {
  const router = useRouter();
  function changeLanguage(language: Language) {
    document.cookie = `${LANGUAGE_COOKIE}=${language}; path=/; max-age=${COOKIE_MAX_AGE_S}; samesite=lax`;
    router.refresh();
  }
  return { language: useLocale(), changeLanguage };
}
