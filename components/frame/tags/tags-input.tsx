import { type ComponentProps, useId, useState } from "react";
import { Input } from "@/components/ui/controls/input";
import { isComposing } from "@/components/ui/hooks/page-keys";
import { lastTag, onlyTag, tagsFor } from "./only-tag";
import { useTags } from "./use-tags";

type TagsInputProps = Omit<ComponentProps<"input">, "value" | "list" | "onChange" | "onKeyDown"> & {
  connection: string | undefined;
  value: string;
  /** Offered in addition to those that the service lists. */
  seen?: readonly string[];
  onText: (text: string) => void;
};

const OFFERED = 30;

/** Comma-separated tags. Enter on a part of a tag completes it if only one matches; after a complete tag Enter belongs to the form. */
export function TagsInput({ connection, value, seen = [], onText, ...rest }: TagsInputProps) {
  const list = useId();
  const [isTyped, setTyped] = useState(false);
  const { before, typed } = lastTag(value);
  const { tags } = useTags(isTyped ? connection : undefined, typed);
  const known = [...new Set([...tags.map(({ name }) => name), ...seen])].filter((tag) => !tag.includes(","));
  const offered = isTyped ? tagsFor(value, known) : [];
  return (
    <>
      <Input
        {...rest}
        list={list}
        value={value}
        autoComplete="off"
        onChange={({ target }) => {
          setTyped(true);
          onText(target.value);
        }}
        onKeyDown={(event) => {
          const only = onlyTag(typed, offered);
          if (event.key !== "Enter" || isComposing(event.nativeEvent) || only === undefined || only === typed) return;
          event.preventDefault();
          onText(before + only);
        }}
      />
      <datalist id={list}>
        {offered.slice(0, OFFERED).map((tag) => (
          <option key={tag} value={before + tag} />
        ))}
      </datalist>
    </>
  );
}
