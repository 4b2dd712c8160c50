import { useTranslations } from "next-intl";
import { TagsInput } from "@/components/frame/tags/tags-input";
import { FormField, InputField, TextareaField } from "@/components/ui/controls/fields";
import { createPersistedValue } from "@/lib/browser/persisted-value";
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
  errors: DraftErrors;
  onChange: (draft: AssetFieldsDraft) => void;
  /** Shown for a single file, since several files keep their names. */
  hasNameField?: boolean;
  /** Whether there is no file to take a default name from. */
  isNameless?: boolean;
  /** Whether the asset is already stored under a name. */
  isStored?: boolean;
  hasHashHint?: boolean;
};

/** Form for an asset's name, tags, metadata and preview. Collapses rarely needed fields. */
export function AssetFieldsForm({
  connection,
  draft,
  errors,
  onChange,
  hasNameField = false,
  isNameless = false,
  isStored = false,
  hasHashHint = false,
}: AssetFieldsFormProps) {
  const t = useTranslations("uploads.about");
  const getFieldProps = (name: keyof AssetFieldsDraft) => ({
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
          error={errors.name && t("nameFault")}
          {...getFieldProps("name")}
        />
      ) : null}
      <FormField label={t("tags")} hint={hasHashHint ? t("tagsHint") : undefined} error={errors.tags && t("tagsFault")}>
        {(control) => (
          <TagsInput {...control} connection={connection} value={draft.tags} onTextChange={(tags) => onChange({ ...draft, tags })} />
        )}
      </FormField>
      <details open={hasOptionalValues || undefined}>
        <summary className="w-fit cursor-pointer text-ink-2">{t("more")}</summary>
        <div className="mt-2 flex flex-col gap-3">
          <TextareaField
            label={t("metadata")}
            hint={t("metadataHint")}
            error={errors.metadata && t("metadataFault")}
            {...getFieldProps("metadata")}
            rows={3}
            spellCheck={false}
            className="font-mono"
          />
          <InputField
            label={t("preview")}
            hint={t("previewHint")}
            error={errors.preview && t("previewFault")}
            {...getFieldProps("preview")}
            spellCheck={false}
            className="font-mono"
          />
        </div>
      </details>
    </div>
  );
}

export type AssetFields = {
  /** Empty to use the file's name. */
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
const CONTROL_CHARACTER_PATTERN = /\p{Cc}/u;
const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** The URL of an asset's page, or of the list with its panel. */
const ASSET_URL_PATTERN = /\/assets(?:\/|\?(?:[^#]*&)?asset=)([0-9a-f-]+)(?=[?#&/]|$)/i;

export const DEFAULT_DRAFT: AssetFieldsDraft = { name: "", tags: DEFAULT_TAG, metadata: "", preview: "" };

export function toDraft({ name, tags, metadata, previewId }: AssetFields): AssetFieldsDraft {
  const text = Object.keys(metadata).length === 0 ? "" : writeExactJson(metadata, 2);
  return { name, tags: tags.join(", "), metadata: text, preview: previewId ?? "" };
}

export function parseDraft({ name, tags: tagText, metadata: metadataText, preview }: AssetFieldsDraft): Result<AssetFields, DraftErrors> {
  const tags = parseTags(tagText);
  const metadata = metadataText.trim() === "" ? {} : parseJson(metadataText);
  const previewId = ASSET_URL_PATTERN.exec(preview.trim())?.[1] ?? preview.trim();
  const errors: DraftErrors = {
    ...((name.length > 500 || CONTROL_CHARACTER_PATTERN.test(name)) && { name: true as const }),
    ...(tags.some((tag) => tag.length > 200 || CONTROL_CHARACTER_PATTERN.test(tag)) && { tags: true as const }),
    ...((!isObject(metadata) || metadataText.length > 64 * 1024) && { metadata: true as const }),
    ...(previewId !== "" && !UUID_PATTERN.test(previewId) && { preview: true as const }),
  };
  if (Object.keys(errors).length > 0 || !isObject(metadata)) return failed(errors);
  return ok({ name: name.trim(), tags, metadata, ...(previewId !== "" && { previewId }) });
}

/** Derives one file's fields from the fields shared by all files. */
export function getFieldsForFile(sharedFields: AssetFields, path: string, folderUse: FolderUse): AssetFields {
  const folders = path.split("/").slice(0, -1);
  if (folderUse === "tags") return { ...sharedFields, tags: [...new Set([...sharedFields.tags, ...folders])] };
  return folderUse === "name" && folders.length > 0 ? { ...sharedFields, name: path } : sharedFields;
}

/** Adds the form's fields to the existing ones. Empty fields keep their values. */
export function mergeFields(existingFields: AssetFields, newFields: AssetFields): AssetFields {
  return {
    name: existingFields.name,
    tags: [...new Set([...existingFields.tags, ...newFields.tags])],
    metadata: copySpellings(
      existingFields.metadata,
      copySpellings(newFields.metadata, { ...existingFields.metadata, ...newFields.metadata }),
    ),
    previewId: newFields.previewId ?? existingFields.previewId,
  };
}

export type FieldChanges = { addedTags: string[]; removedTags: string[]; fields: JsonObject };
/** A part that is written separately and can fail separately. */
export type AssetFieldPart = "tags" | "name" | "metadata" | "preview";

export function diffFields(storedFields: AssetFields, newFields: AssetFields): FieldChanges | undefined {
  const addedTags = newFields.tags.filter((tag) => !storedFields.tags.includes(tag));
  const removedTags = storedFields.tags.filter((tag) => !newFields.tags.includes(tag));
  const fields: JsonObject = {
    ...(newFields.name !== storedFields.name && newFields.name !== "" && { name: newFields.name }),
    ...(writeExactJson(newFields.metadata) !== writeExactJson(storedFields.metadata) && { user_metadata: newFields.metadata }),
    ...(newFields.previewId !== storedFields.previewId && { preview_id: newFields.previewId ?? null }),
  };
  return addedTags.length + removedTags.length + Object.keys(fields).length === 0 ? undefined : { addedTags, removedTags, fields };
}

/** Returns the stored fields after all parts except `failedParts` were written. */
export function getWrittenFields(failedParts: readonly AssetFieldPart[], storedFields: AssetFields, newFields: AssetFields): AssetFields {
  const getSource = (part: AssetFieldPart) => (failedParts.includes(part) ? storedFields : newFields);
  return {
    name: getSource("name").name,
    tags: getSource("tags").tags,
    metadata: getSource("metadata").metadata,
    previewId: getSource("preview").previewId,
  };
}

// The user's upload preferences in this browser.

export const DEFAULT_UPLOAD_PREFERENCES = { ask: true, tags: DEFAULT_DRAFT.tags };

/** Tags are stored only if files are added without asking. */
const parsePreferences = object({ ask: oneOf([false]), tags: withFallback(anyText, DEFAULT_DRAFT.tags) });

export const uploadPreferences = createPersistedValue(
  "lightdesk.uploads",
  (storedValue): typeof DEFAULT_UPLOAD_PREFERENCES => parsePreferences(storedValue) ?? DEFAULT_UPLOAD_PREFERENCES,
);
