"use client";

import { useTranslations } from "next-intl";
import { Select } from "@/components/ui/controls/select";
import { languageNames, languages } from "@/lib/shared/languages";
import { useLanguage } from "./use-language";

/** Each language is written in itself, so that people who read no other can find it. */
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
