"use client";

import { useTranslations } from "next-intl";
import { Select } from "@/components/ui/controls/select";
import { languageNames, languages } from "@/lib/shared/languages";
import { useLanguage } from "./use-language";

/** Each language in its own words, so that each can be found by who reads no other. */
export function LanguageSwitch({ className }: { className?: string }) {
  const t = useTranslations("frame.language");
  const { language, change } = useLanguage();
  return (
    <Select
      aria-label={t("label")}
      value={language}
      className={className}
      onChange={(event) => {
        const chosen = languages.find((name) => name === event.target.value);
        if (chosen) change(chosen);
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
