import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useId, useState } from "react";
import { findCompletion, useTags } from "@/components/frame/tags/tags-input";
import { chipStyle } from "@/components/ui/controls/button";
import { Input } from "@/components/ui/controls/fields";
import { Dialog, FormFooter } from "@/components/ui/dialog";
import { isComposing } from "@/components/ui/hooks/page-events";
import { parseTags } from "@/lib/shared/text";

type TagsDialogProps = {
  title: string;
  label: string;
  connectionId: string | undefined;
  /** Tags of the loaded assets, suggested first. */
  loadedTags: readonly string[];
  /** Allows only existing tags, as when removing tags. */
  isExistingOnly?: boolean;
  onTags: (tags: string[]) => void;
  onClose: () => void;
};

const MAX_SUGGESTIONS = 12;

/** Selects tags by typing or from suggestions. */
export function TagsDialog({ title, label, connectionId, loadedTags, isExistingOnly = false, onTags, onClose }: TagsDialogProps) {
  const t = useTranslations("assets.tags");
  const [tags, setTags] = useState<string[]>([]);
  const [inputText, setInputText] = useState("");
  const id = useId();
  const searchText = inputText.trim();
  const { tags: listedTags } = useTags(isExistingOnly ? undefined : connectionId, searchText.includes(",") ? "" : searchText);
  const otherTags = [...new Set([...loadedTags, ...listedTags.map(({ name }) => name)])].filter((tag) => !tags.includes(tag));
  const suggestions = otherTags.filter((tag) => tag.toLowerCase().includes(searchText.toLowerCase())).slice(0, MAX_SUGGESTIONS);
  // A tag created elsewhere may contain a comma.
  const typedTags = otherTags.includes(searchText) ? [searchText] : parseTags(searchText);
  const singleMatch = findCompletion(searchText, suggestions);
  // Text followed by a comma is a complete tag, even if another tag contains it.
  const isTagList = searchText.includes(",");
  const addTags = (newTags: readonly string[]) => {
    setTags([...tags.filter((other) => !newTags.includes(other)), ...newTags]);
    setInputText("");
  };
  const selectedTags = [...new Set([...tags, ...typedTags])];
  return (
    <Dialog isOpen onClose={onClose} title={title}>
      <form
        action={() => {
          if (selectedTags.length === 0) return;
          onTags(selectedTags);
          onClose();
        }}
      >
        {tags.length > 0 ? (
          <ul aria-label={t("chosen")} className="mb-2 flex flex-wrap gap-1.5">
            {tags.map((tag) => (
              <li key={tag} className={chipStyle(true, "max-w-full")}>
                <span className="truncate">{tag}</span>
                <button type="button" aria-label={t("drop", { tag })} onClick={() => setTags(tags.filter((other) => other !== tag))}>
                  <X aria-hidden="true" className="size-3" />
                </button>
              </li>
            ))}
          </ul>
        ) : null}
        <label htmlFor={id} className="sr-only">
          {label}
        </label>
        <Input
          id={id}
          value={inputText}
          maxLength={200}
          autoComplete="off"
          placeholder={t("searchPlaceholder")}
          onChange={({ currentTarget }) => setInputText(currentTarget.value)}
          onKeyDown={(event) => {
            // Enter without text submits. During IME composition, Enter belongs to the input method.
            if (event.key !== "Enter" || isComposing(event.nativeEvent) || searchText === "") return;
            event.preventDefault();
            addTags(isTagList || !singleMatch ? typedTags : [singleMatch]);
          }}
        />
        {suggestions.length > 0 ? (
          <ul aria-label={t("list")} className="mt-2 flex max-h-40 flex-wrap gap-1.5 overflow-y-auto">
            {suggestions.map((tag) => (
              <li key={tag} className="max-w-full min-w-0">
                <button type="button" onClick={() => addTags([tag])} className={chipStyle(false, "max-w-full")}>
                  <span className="truncate">{tag}</span>
                </button>
              </li>
            ))}
          </ul>
        ) : null}
        <FormFooter onClose={onClose} aria-disabled={selectedTags.length === 0 || undefined} label={title} />
      </form>
    </Dialog>
  );
}
