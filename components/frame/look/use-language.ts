import { useLocale } from "next-intl";
import { useRouter } from "@/components/ui/link";
import { type Language, LANGUAGE_COOKIE } from "@/lib/shared/languages";

const A_YEAR = 365 * 24 * 60 * 60;

/** The page's language, and a function that changes it: the server renders again, and what was typed stays. */
export function useLanguage() {
  const router = useRouter();
  function change(language: Language) {
    document.cookie = `${LANGUAGE_COOKIE}=${language}; path=/; max-age=${A_YEAR}; samesite=lax`;
    router.refresh();
  }
  return { language: useLocale(), change };
}
