import { type ChangeEvent, type ComponentProps, useEffect, useEffectEvent, useState } from "react";
import { isComposing as isComposingKey } from "../hooks/page-keys";
import { Input } from "./input";

const TYPING_MS = 350;

type SearchFieldProps = Omit<ComponentProps<"input">, "type" | "value" | "defaultValue" | "onChange"> & {
  /** What is searched for now. */
  text: string;
  /** `words`: without spaces around them, and other than those before. */
  onSearch: (words: string) => void;
};

/**
 * Searches a moment after the last letter, or at Enter, which never submits a form around it. `sent` is the last search of this field
 * itself: only other words, from Back or a link, replace what is typed, and end its wait.
 */
export function SearchField({ text, onSearch, ...rest }: SearchFieldProps) {
  const [field, setField] = useState({ typed: text, sent: text, known: text, isComposing: false });
  const { typed, sent, isComposing } = field;
  if (field.known !== text) setField({ ...field, known: text, ...(text !== sent && { typed: text, sent: text }) });
  /** `isAsked`: by Enter, which also searches again for words that never arrived. */
  function send(isAsked: boolean) {
    const words = typed.trim();
    if (words === sent && (!isAsked || words === text)) return;
    setField((now) => ({ ...now, sent: words }));
    onSearch(words);
  }
  const sendNow = useEffectEvent(send);
  useEffect(() => {
    // Letters that an input method is still composing are not searched.
    if (isComposing || typed.trim() === sent) return undefined;
    const timer = setTimeout(() => sendNow(false), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, sent, isComposing]);
  function change({ currentTarget: { value }, nativeEvent }: ChangeEvent<HTMLInputElement>) {
    setField((now) => ({ ...now, typed: value, isComposing: nativeEvent instanceof InputEvent && nativeEvent.isComposing }));
  }
  return (
    <Input
      enterKeyHint="search"
      spellCheck={false}
      {...rest}
      type="search"
      value={typed}
      onChange={change}
      onCompositionEnd={({ currentTarget: { value } }) => setField((now) => ({ ...now, typed: value, isComposing: false }))}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || isComposingKey(event.nativeEvent)) return;
        event.preventDefault();
        send(true);
      }}
    />
  );
}
