import { useTranslations } from "next-intl";
import { TagsInput } from "@/components/frame/tags/tags-input";
import { Input } from "@/components/ui/controls/fields";
import { FormField, Textarea } from "@/components/ui/controls/form-field";
import { persisted } from "@/lib/browser/persisted";
import { withSpellingsOf, writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject, type JsonObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { anyText, object, oneOf, or } from "@/lib/contract/json/readers";
import { failed, ok, type Result } from "@/lib/shared/result";
import { readTags } from "@/lib/shared/text";

type AboutFormProps = {
  /** The connection whose tags are offered. */
  connection: string | undefined;
  draft: AboutDraft;
  faults: DraftFaults;
  onChange: (draft: AboutDraft) => void;
  /** A single file can be renamed; several keep their names. */
  withName?: boolean;
  /** There is no file with a name of its own. */
  isNameless?: boolean;
  /** It is stored and has a name already. */
  isStored?: boolean;
  withHashHint?: boolean;
};

/** Name, tags, metadata, preview. Rarely needed fields are collapsed. */
export function AboutForm({
  connection,
  draft,
  faults,
  onChange,
  withName = false,
  isNameless = false,
  isStored = false,
  withHashHint = false,
}: AboutFormProps) {
  const t = useTranslations("uploads.about");
  const field = (name: keyof AboutDraft) => ({
    value: draft[name],
    onChange: ({ target }: { target: { value: string } }) => onChange({ ...draft, [name]: target.value }),
  });
  const isMoreNeeded = draft.metadata !== "" || draft.preview !== "";
  return (
    <div className="flex flex-col gap-3 text-ink">
      {withName ? (
        <FormField
          label={t("name")}
          hint={isNameless ? undefined : t(isStored ? "nameHintStored" : "nameHint")}
          error={faults.name && t("nameFault")}
        >
          {(control) => <Input {...control} {...field("name")} />}
        </FormField>
      ) : null}
      <FormField label={t("tags")} hint={withHashHint ? t("tagsHint") : undefined} error={faults.tags && t("tagsFault")}>
        {(control) => <TagsInput {...control} connection={connection} value={draft.tags} onText={(tags) => onChange({ ...draft, tags })} />}
      </FormField>
      <details open={isMoreNeeded || undefined}>
        <summary className="w-fit cursor-pointer text-ink-2">{t("more")}</summary>
        <div className="mt-2 flex flex-col gap-3">
          <FormField label={t("metadata")} hint={t("metadataHint")} error={faults.metadata && t("metadataFault")}>
            {(control) => <Textarea {...control} {...field("metadata")} rows={3} spellCheck={false} className="font-mono" />}
          </FormField>
          <FormField label={t("preview")} hint={t("previewHint")} error={faults.preview && t("previewFault")}>
            {(control) => <Input {...control} {...field("preview")} spellCheck={false} className="font-mono" />}
          </FormField>
        </div>
      </details>
    </div>
  );
}

// The description of an asset (name, tags, metadata, preview) as a form, as sent, and the difference between two.

export type About = {
  /** Empty: the file's own name. */
  name: string;
  tags: readonly string[];
  metadata: Readonly<JsonObject>;
  previewId?: string;
};

type AboutDraft = { name: string; tags: string; metadata: string; preview: string };
export type DraftFaults = Partial<Record<keyof AboutDraft, true>>;
/** How the folders above a file are used. */
export type FolderUse = "none" | "tags" | "name";

const DEFAULT_TAG = "input";
const control = /\p{Cc}/u;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** The page of an asset, or the list with its panel. */
const assetAddress = /\/assets(?:\/|\?(?:[^#]*&)?asset=)([0-9a-f-]+)(?=[?#&/]|$)/i;

export const newDraft: AboutDraft = { name: "", tags: DEFAULT_TAG, metadata: "", preview: "" };

export function draftOf({ name, tags, metadata, previewId }: About): AboutDraft {
  const text = Object.keys(metadata).length === 0 ? "" : writeExactJson(metadata, 2);
  return { name, tags: tags.join(", "), metadata: text, preview: previewId ?? "" };
}

export function readDraft({ name, tags: tagText, metadata: metadataText, preview }: AboutDraft): Result<About, DraftFaults> {
  const tags = readTags(tagText);
  const metadata = metadataText.trim() === "" ? {} : parseJson(metadataText);
  const previewId = assetAddress.exec(preview.trim())?.[1] ?? preview.trim();
  const faults: DraftFaults = {
    ...((name.length > 500 || control.test(name)) && { name: true as const }),
    ...(tags.some((tag) => tag.length > 200 || control.test(tag)) && { tags: true as const }),
    ...((!isObject(metadata) || metadataText.length > 64 * 1024) && { metadata: true as const }),
    ...(previewId !== "" && !uuid.test(previewId) && { preview: true as const }),
  };
  if (Object.keys(faults).length > 0 || !isObject(metadata)) return failed(faults);
  return ok({ name: name.trim(), tags, metadata, ...(previewId !== "" && { previewId }) });
}

/** The name, tags and metadata of one file, from the form for all files. */
export function aboutFile(about: About, path: string, use: FolderUse): About {
  const folders = path.split("/").slice(0, -1);
  if (use === "tags") return { ...about, tags: [...new Set([...about.tags, ...folders])] };
  return use === "name" && folders.length > 0 ? { ...about, name: path } : about;
}

/** Merged into what exists already: fields left empty in the form keep their values. */
export function mergeAbout(before: About, more: About): About {
  return {
    name: before.name,
    tags: [...new Set([...before.tags, ...more.tags])],
    metadata: withSpellingsOf(before.metadata, withSpellingsOf(more.metadata, { ...before.metadata, ...more.metadata })),
    previewId: more.previewId ?? before.previewId,
  };
}

export type Changes = { addedTags: string[]; removedTags: string[]; fields: JsonObject };
/** The parts that a service refused. */
export type Part = "tags" | "name" | "metadata" | "preview";

export function changesBetween(before: About, after: About): Changes | undefined {
  const addedTags = after.tags.filter((tag) => !before.tags.includes(tag));
  const removedTags = before.tags.filter((tag) => !after.tags.includes(tag));
  const fields: JsonObject = {
    ...(after.name !== before.name && after.name !== "" && { name: after.name }),
    ...(writeExactJson(after.metadata) !== writeExactJson(before.metadata) && { user_metadata: after.metadata }),
    ...(after.previewId !== before.previewId && { preview_id: after.previewId ?? null }),
  };
  return addedTags.length + removedTags.length + Object.keys(fields).length === 0 ? undefined : { addedTags, removedTags, fields };
}

/** The resulting description when all but these parts were written. */
export function writtenBut(parts: readonly Part[], before: About, after: About): About {
  const left = (part: Part) => (parts.includes(part) ? before : after);
  return { name: left("name").name, tags: left("tags").tags, metadata: left("metadata").metadata, previewId: left("preview").previewId };
}

// A person's upload preferences in this browser.

export const usualHabits = { ask: true, tags: newDraft.tags };

/** Own default tags are used only when files are added without asking. */
const unasked = object({ ask: oneOf([false]), tags: or(anyText, newDraft.tags) });

export const uploadHabits = persisted("lightdesk.uploads", (kept): typeof usualHabits => unasked(kept) ?? usualHabits);
