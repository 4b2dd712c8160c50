import { useTranslations } from "next-intl";
import { TagsInput } from "@/components/frame/tags/tags-input";
import { FormField, InputField, TextareaField } from "@/components/ui/controls/fields";
import { persisted } from "@/lib/browser/persisted";
import { copySpellings, writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject, type JsonObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { anyText, object, oneOf, withFallback } from "@/lib/contract/json/readers";
import { failed, ok, type Result } from "@/lib/shared/result";
import { parseTags } from "@/lib/shared/text";

type AssetFieldsFormProps = {
  /** The connection whose tags are offered. */
  connection: string | undefined;
  draft: AssetFieldsDraft;
  faults: DraftErrors;
  onChange: (draft: AssetFieldsDraft) => void;
  /** Shown for a single file, since several files keep their names. */
  hasNameField?: boolean;
  /** Whether there is no file, and so no default name. */
  isNameless?: boolean;
  /** Whether the asset is already stored under a name. */
  isStored?: boolean;
  hasHashHint?: boolean;
};

/** Name, tags, metadata, preview. Rarely needed fields are collapsed. */
export function AssetFieldsForm({
  connection,
  draft,
  faults,
  onChange,
  hasNameField = false,
  isNameless = false,
  isStored = false,
  hasHashHint = false,
}: AssetFieldsFormProps) {
  const t = useTranslations("uploads.about");
  const field = (name: keyof AssetFieldsDraft) => ({
    value: draft[name],
    onChange: ({ target }: { target: { value: string } }) => onChange({ ...draft, [name]: target.value }),
  });
  const hasOptionalValues = draft.metadata !== "" || draft.preview !== "";
  return (
    <div className="flex flex-col gap-3 text-ink">
      {hasNameField ? (
        <InputField
          label={t("name")}
          hint={isNameless ? undefined : t(isStored ? "nameHintStored" : "nameHint")}
          error={faults.name && t("nameFault")}
          {...field("name")}
        />
      ) : null}
      <FormField label={t("tags")} hint={hasHashHint ? t("tagsHint") : undefined} error={faults.tags && t("tagsFault")}>
        {(control) => <TagsInput {...control} connection={connection} value={draft.tags} onText={(tags) => onChange({ ...draft, tags })} />}
      </FormField>
      <details open={hasOptionalValues || undefined}>
        <summary className="w-fit cursor-pointer text-ink-2">{t("more")}</summary>
        <div className="mt-2 flex flex-col gap-3">
          <TextareaField
            label={t("metadata")}
            hint={t("metadataHint")}
            error={faults.metadata && t("metadataFault")}
            {...field("metadata")}
            rows={3}
            spellCheck={false}
            className="font-mono"
          />
          <InputField
            label={t("preview")}
            hint={t("previewHint")}
            error={faults.preview && t("previewFault")}
            {...field("preview")}
            spellCheck={false}
            className="font-mono"
          />
        </div>
      </details>
    </div>
  );
}

export type AssetFields = {
  /** Empty for the file's own name. */
  name: string;
  tags: readonly string[];
  metadata: Readonly<JsonObject>;
  previewId?: string;
};

type AssetFieldsDraft = { name: string; tags: string; metadata: string; preview: string };
export type DraftErrors = Partial<Record<keyof AssetFieldsDraft, true>>;
/** How to use a file's folders. */
export type FolderUse = "none" | "tags" | "name";

const DEFAULT_TAG = "input";
const CONTROL_CHARACTER = /\p{Cc}/u;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** The URL of an asset's page, or of the list with its panel. */
const ASSET_URL = /\/assets(?:\/|\?(?:[^#]*&)?asset=)([0-9a-f-]+)(?=[?#&/]|$)/i;

export const newDraft: AssetFieldsDraft = { name: "", tags: DEFAULT_TAG, metadata: "", preview: "" };

export function toDraft({ name, tags, metadata, previewId }: AssetFields): AssetFieldsDraft {
  const text = Object.keys(metadata).length === 0 ? "" : writeExactJson(metadata, 2);
  return { name, tags: tags.join(", "), metadata: text, preview: previewId ?? "" };
}

export function readDraft({ name, tags: tagText, metadata: metadataText, preview }: AssetFieldsDraft): Result<AssetFields, DraftErrors> {
  const tags = parseTags(tagText);
  const metadata = metadataText.trim() === "" ? {} : parseJson(metadataText);
  const previewId = ASSET_URL.exec(preview.trim())?.[1] ?? preview.trim();
  const faults: DraftErrors = {
    ...((name.length > 500 || CONTROL_CHARACTER.test(name)) && { name: true as const }),
    ...(tags.some((tag) => tag.length > 200 || CONTROL_CHARACTER.test(tag)) && { tags: true as const }),
    ...((!isObject(metadata) || metadataText.length > 64 * 1024) && { metadata: true as const }),
    ...(previewId !== "" && !UUID.test(previewId) && { preview: true as const }),
  };
  if (Object.keys(faults).length > 0 || !isObject(metadata)) return failed(faults);
  return ok({ name: name.trim(), tags, metadata, ...(previewId !== "" && { previewId }) });
}

/** The fields of one file, from the form for all files. */
export function fieldsForFile(shared: AssetFields, path: string, use: FolderUse): AssetFields {
  const folders = path.split("/").slice(0, -1);
  if (use === "tags") return { ...shared, tags: [...new Set([...shared.tags, ...folders])] };
  return use === "name" && folders.length > 0 ? { ...shared, name: path } : shared;
}

/** Adds the form's fields to the existing ones. Empty fields keep their values. */
export function mergeFields(before: AssetFields, newFields: AssetFields): AssetFields {
  return {
    name: before.name,
    tags: [...new Set([...before.tags, ...newFields.tags])],
    metadata: copySpellings(before.metadata, copySpellings(newFields.metadata, { ...before.metadata, ...newFields.metadata })),
    previewId: newFields.previewId ?? before.previewId,
  };
}

export type FieldChanges = { addedTags: string[]; removedTags: string[]; fields: JsonObject };
/** The parts that a service refused. */
export type AssetFieldPart = "tags" | "name" | "metadata" | "preview";

export function diffFields(before: AssetFields, after: AssetFields): FieldChanges | undefined {
  const addedTags = after.tags.filter((tag) => !before.tags.includes(tag));
  const removedTags = before.tags.filter((tag) => !after.tags.includes(tag));
  const fields: JsonObject = {
    ...(after.name !== before.name && after.name !== "" && { name: after.name }),
    ...(writeExactJson(after.metadata) !== writeExactJson(before.metadata) && { user_metadata: after.metadata }),
    ...(after.previewId !== before.previewId && { preview_id: after.previewId ?? null }),
  };
  return addedTags.length + removedTags.length + Object.keys(fields).length === 0 ? undefined : { addedTags, removedTags, fields };
}

/** The resulting fields if all except these parts were written. */
export function withWrittenParts(parts: readonly AssetFieldPart[], before: AssetFields, after: AssetFields): AssetFields {
  const source = (part: AssetFieldPart) => (parts.includes(part) ? before : after);
  return {
    name: source("name").name,
    tags: source("tags").tags,
    metadata: source("metadata").metadata,
    previewId: source("preview").previewId,
  };
}

// The user's upload preferences in this browser.

export const DEFAULT_UPLOAD_PREFERENCES = { ask: true, tags: newDraft.tags };

/** The default tags apply only if files are added without asking. */
const storedPreferences = object({ ask: oneOf([false]), tags: withFallback(anyText, newDraft.tags) });

export const uploadPreferences = persisted(
  "lightdesk.uploads",
  (storedValue): typeof DEFAULT_UPLOAD_PREFERENCES => storedPreferences(storedValue) ?? DEFAULT_UPLOAD_PREFERENCES,
);
