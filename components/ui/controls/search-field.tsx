import { type ChangeEvent, type ComponentProps, useEffect, useRef, useState } from "react";
import { Input } from "./input";

const TYPING_MS = 350;

type SearchFieldProps = Omit<ComponentProps<"input">, "type" | "value" | "defaultValue" | "onChange"> & {
  /** What is searched for now. */
  text: string;
  /** `words`: without spaces around them, and other than `text`. */
  onSearch: (words: string) => void;
};

/**
 * Searches a moment after the last letter, or at Enter, which never submits a form around it. `sent` is the last search of this field
 * itself: only other words, from Back or a link, replace what is typed.
 */
export function SearchField({ text, onSearch, ...rest }: SearchFieldProps) {
  const [field, setField] = useState({ typed: text, sent: text, known: text });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  if (field.known !== text) setField({ ...field, known: text, ...(text !== field.sent && { typed: text, sent: text }) });
  function send(typed: string) {
    clearTimeout(timer.current);
    const words = typed.trim();
    setField((now) => ({ ...now, sent: words }));
    if (words !== text) onSearch(words);
  }
  function wait(typed: string) {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => send(typed), TYPING_MS);
  }
  function change({ currentTarget: { value }, nativeEvent }: ChangeEvent<HTMLInputElement>) {
    setField((now) => ({ ...now, typed: value }));
    // Letters that an input method is still composing are not searched.
    if (!(nativeEvent instanceof InputEvent && nativeEvent.isComposing)) wait(value);
  }
  return (
    <Input
      enterKeyHint="search"
      spellCheck={false}
      {...rest}
      type="search"
      value={field.typed}
      onChange={change}
      onCompositionEnd={(event) => wait(event.currentTarget.value)}
      onKeyDown={(event) => {
        // Enter that ends a composition is the input method's.
        if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
        event.preventDefault();
        send(field.typed);
      }}
    />
  );
}
