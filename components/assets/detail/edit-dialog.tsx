import { useTranslations } from "next-intl";
import { useState } from "react";
import { failureText } from "@/components/frame/failure/fault-owner";
import { InputField } from "@/components/ui/controls/form-field";
import { Dialog, FormFoot } from "@/components/ui/dialog";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type AssetEdit } from "../asset-calls";
import { MetadataEditor } from "../filter/metadata-editor";
import { fromRows, type ReadRows, toRows } from "../filter/metadata-rows";
import { type AssetEdits } from "./asset-tags";

const noProblems: ReadRows["problems"] = new Map();
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Edits an asset's fields. Only changed fields are sent. */
export function EditDialog({ asset, edits, onClose }: { asset: AssetView; edits: AssetEdits; onClose: () => void }) {
  const t = useTranslations("assets.edit");
  const common = useTranslations("common");
  const errors = useTranslations("errors");
  const [name, setName] = useState(asset.name);
  const [type, setType] = useState(asset.mimeType ?? "");
  const [preview, setPreview] = useState(asset.previewId === asset.id ? "" : (asset.previewId ?? ""));
  const [rows, setRows] = useState(() => toRows(asset.metadata));
  const [problems, setProblems] = useState(noProblems);
  const isInvalidId = preview.trim() !== "" && !uuidPattern.test(preview.trim());
  async function save() {
    const result = fromRows(rows);
    setProblems(result.problems);
    if (result.problems.size > 0 || isInvalidId || name.trim() === "") return;
    const change = getChange(asset, { name: name.trim(), type: type.trim(), preview: preview.trim(), metadata: result.metadata });
    if (!change || (await edits.edit(change))) onClose();
  }
  return (
    <Dialog isOpen onClose={onClose} title={t("title", { name: asset.name })} className="w-[min(620px,calc(100vw-32px))]">
      <form action={save} className="flex flex-col gap-3">
        <InputField
          label={t("name")}
          error={name.trim() === "" ? t("nameMissing") : undefined}
          value={name}
          maxLength={500}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <InputField
          label={t("type")}
          hint={t("typeHint")}
          value={type}
          maxLength={200}
          placeholder="image/png"
          onChange={({ currentTarget }) => setType(currentTarget.value)}
        />
        <InputField
          label={t("preview")}
          hint={t("previewHint")}
          error={isInvalidId ? t("previewWrong") : undefined}
          value={preview}
          maxLength={36}
          className="font-mono"
          onChange={({ currentTarget }) => setPreview(currentTarget.value)}
        />
        <fieldset>
          <legend className="mb-1 font-medium">{t("metadata")}</legend>
          <MetadataEditor rows={rows} problems={problems} onRows={setRows} />
        </fieldset>
        {edits.outcome?.kind === "refused" ? (
          <p role="alert" className="text-bad">
            {failureText(errors, edits.outcome.failure)}
          </p>
        ) : null}
        {edits.outcome?.kind === "absent" ? <p role="alert">{t("absent")}</p> : null}
        <FormFoot onClose={onClose} busy={edits.busy === "edit"} label={common("save")} />
      </form>
    </Dialog>
  );
}

type EditedFields = { name: string; type: string; preview: string; metadata: Record<string, unknown> };

function getChange(asset: AssetView, fields: EditedFields): AssetEdit | undefined {
  const previousPreview = asset.previewId === asset.id ? "" : (asset.previewId ?? "");
  const hasNewMetadata = writeExactJson(fields.metadata) !== writeExactJson(asset.metadata);
  const change: AssetEdit = {
    ...(fields.name !== asset.name && { name: fields.name }),
    ...(fields.type !== (asset.mimeType ?? "") && fields.type !== "" && { mime_type: fields.type }),
    ...(fields.preview !== previousPreview && { preview_id: fields.preview === "" ? null : fields.preview }),
    ...(hasNewMetadata && { user_metadata: fields.metadata }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}
