import { useTranslations } from "next-intl";
import { TagsInput } from "@/components/frame/tags/tags-input";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { Textarea } from "@/components/ui/controls/textarea";
import { type AboutDraft, type DraftFaults } from "./about";

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
