import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useId, useState } from "react";
import { onlyTag, useTags } from "@/components/frame/tags/tags-input";
import { chipStyle } from "@/components/ui/controls/button";
import { Input } from "@/components/ui/controls/fields";
import { Dialog, FormFoot } from "@/components/ui/dialog";
import { isComposing } from "@/components/ui/hooks/page-events";
import { parseTags } from "@/lib/shared/text";

type TagsDialogProps = {
  title: string;
  label: string;
  connectionId: string | undefined;
  /** Tags of the loaded assets, offered first. */
  loadedTags: readonly string[];
  /** Only existing tags can be chosen, as when removing tags. */
  isExistingOnly?: boolean;
  onTags: (tags: string[]) => void;
  onClose: () => void;
};

const MAX_SUGGESTIONS = 12;

/** Chooses tags, typed or from suggestions. */
export function TagsDialog({
  title,
  label,
  connectionId,
  loadedTags,
  isExistingOnly: isExistingOnly = false,
  onTags,
  onClose,
}: TagsDialogProps) {
  const t = useTranslations("assets.tags");
  const [tags, setTags] = useState<string[]>([]);
  const [typed, setTyped] = useState("");
  const id = useId();
  const search = typed.trim();
  const { tags: listedTags } = useTags(isExistingOnly ? undefined : connectionId, search.includes(",") ? "" : search);
  const otherTags = [...new Set([...loadedTags, ...listedTags.map(({ name }) => name)])].filter((tag) => !tags.includes(tag));
  const suggestions = otherTags.filter((tag) => tag.toLowerCase().includes(search.toLowerCase())).slice(0, MAX_SUGGESTIONS);
  // A tag created elsewhere may contain a comma.
  const typedTags = otherTags.includes(search) ? [search] : parseTags(search);
  const only = onlyTag(search, suggestions);
  // Text followed by a comma is a complete tag, even if another tag contains it.
  const isTagList = search.includes(",");
  const addTags = (newTags: readonly string[]) => {
    setTags([...tags.filter((other) => !newTags.includes(other)), ...newTags]);
    setTyped("");
  };
  const all = [...new Set([...tags, ...typedTags])];
  return (
    <Dialog isOpen onClose={onClose} title={title}>
      <form
        action={() => {
          if (all.length === 0) return;
          onTags(all);
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
          value={typed}
          maxLength={200}
          autoComplete="off"
          placeholder={t("searchPlaceholder")}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          onKeyDown={(event) => {
            // Enter without text submits. During IME composition, Enter belongs to the input method.
            if (event.key !== "Enter" || isComposing(event.nativeEvent) || search === "") return;
            event.preventDefault();
            addTags(isTagList || !only ? typedTags : [only]);
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
        <FormFoot onClose={onClose} aria-disabled={all.length === 0 || undefined} label={title} />
      </form>
    </Dialog>
  );
}
