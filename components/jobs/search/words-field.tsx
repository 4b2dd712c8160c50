import { useTranslations } from "next-intl";
import { type ChangeEvent, useEffect, useRef, useState } from "react";
import { Input } from "@/components/ui/controls/input";
import { type JobSearch } from "@/lib/contract/jobs/job-search";
import { FILTERS } from "@/components/frame/list/tool-bar";

const TYPING_MS = 350;

type WordsFieldProps = {
  text: string | undefined;
  /** `isTyped`: called while the person is still typing. */
  onGo: (change: JobSearch, isTyped?: boolean) => void;
};

/**
 * The search field in a list's header: words in prompts, errors and names. Searches a moment after the last letter, or at Enter. `sent` is
 * the last search of this field itself: only other words from the address replace what is typed.
 */
export function WordsField({ text = "", onGo }: WordsFieldProps) {
  const t = useTranslations("jobSearch");
  const [field, setField] = useState({ typed: text, sent: text, known: text });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  if (field.known !== text) setField({ ...field, known: text, ...(text !== field.sent && { typed: text, sent: text }) });
  function send(typed: string) {
    clearTimeout(timer.current);
    const words = typed.trim();
    setField((now) => ({ ...now, sent: words }));
    if (words !== text) onGo({ text: words || undefined }, true);
  }
  function wait(typed: string) {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => send(typed), TYPING_MS);
  }
  function change({ currentTarget: { value }, nativeEvent }: ChangeEvent<HTMLInputElement>) {
    setField((now) => ({ ...now, typed: value }));
    // Letters that an input method is still composing are not searched.
    const isComposing = nativeEvent instanceof InputEvent && nativeEvent.isComposing;
    if (!isComposing) wait(value);
  }
  return (
    <form
      role="search"
      {...{ [FILTERS]: "" }}
      className="max-sm:order-last max-sm:w-full sm:w-64 lg:ml-3 lg:w-80"
      onSubmit={(event) => {
        event.preventDefault();
        send(field.typed);
      }}
    >
      <Input
        type="search"
        aria-label={t("field")}
        placeholder={t("placeholder")}
        value={field.typed}
        maxLength={200}
        enterKeyHint="search"
        spellCheck={false}
        className="w-full"
        onChange={change}
        onCompositionEnd={(event) => wait(event.currentTarget.value)}
      />
    </form>
  );
}
