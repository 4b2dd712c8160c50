import { useTranslations } from "next-intl";
import { FILTERS } from "@/components/frame/list/tool-bar";
import { SearchField } from "@/components/ui/controls/search-field";
import { type JobSearch } from "@/lib/contract/jobs/job-list";

type WordsFieldProps = {
  text: string | undefined;
  /** `isTyped`: called while the person is still typing. */
  onGo: (change: JobSearch, isTyped?: boolean) => void;
};

/** The search field in a list's header: words in prompts, errors and names. */
export function WordsField({ text = "", onGo }: WordsFieldProps) {
  const t = useTranslations("jobSearch");
  return (
    <div role="search" {...{ [FILTERS]: "" }} className="max-sm:order-last max-sm:w-full sm:w-64 lg:ml-3 lg:w-80">
      <SearchField
        aria-label={t("field")}
        placeholder={t("placeholder")}
        text={text}
        maxLength={200}
        className="w-full"
        onSearch={(words) => onGo({ text: words || undefined }, true)}
      />
    </div>
  );
}
