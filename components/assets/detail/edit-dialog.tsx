import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { Input, InputField, Options, Select } from "@/components/ui/controls/fields";
import { Dialog, FormFooter } from "@/components/ui/dialog";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type AssetEdit } from "../asset-api";
import { type MetadataRow, type ParsedRows, parseRows, type RowProblem, toRows, valueTypes } from "../filter/metadata-rows";
import { type AssetEdits } from "./asset-tags";

const noProblems: ParsedRows["problems"] = new Map();
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Edits an asset's fields. Only changed fields are sent. */
export function EditDialog({ asset, edits, onClose }: { asset: AssetView; edits: AssetEdits; onClose: () => void }) {
  const t = useTranslations("assets.edit");
  const common = useTranslations("common");
  const errors = useTranslations("errors");
  const [name, setName] = useState(asset.name);
  const [type, setType] = useState(asset.mimeType ?? "");
  const [previewId, setPreviewId] = useState(asset.previewId === asset.id ? "" : (asset.previewId ?? ""));
  const [rows, setRows] = useState(() => toRows(asset.metadata));
  const [problems, setProblems] = useState(noProblems);
  const isInvalidId = previewId.trim() !== "" && !uuidPattern.test(previewId.trim());
  async function save(event: FormEvent) {
    event.preventDefault();
    if (edits.busy === "edit") return;
    const result = parseRows(rows);
    setProblems(result.problems);
    if (result.problems.size > 0 || isInvalidId || name.trim() === "") return;
    const change = getChange(asset, { name: name.trim(), type: type.trim(), previewId: previewId.trim(), metadata: result.metadata });
    if (!change || (await edits.edit(change))) onClose();
  }
  return (
    <Dialog isOpen onClose={onClose} title={t("title", { name: asset.name })} className="w-[min(620px,calc(100vw-32px))]">
      <form onSubmit={(event) => void save(event)} className="flex flex-col gap-3">
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
          value={previewId}
          maxLength={36}
          className="font-mono"
          onChange={({ currentTarget }) => setPreviewId(currentTarget.value)}
        />
        <fieldset>
          <legend className="mb-1 font-medium">{t("metadata")}</legend>
          <MetadataEditor rows={rows} problems={problems} onRows={setRows} />
        </fieldset>
        {edits.outcome?.kind === "refused" ? (
          <p role="alert" className="text-bad">
            {formatFailure(errors, edits.outcome.failure)}
          </p>
        ) : null}
        {edits.outcome?.kind === "absent" ? <p role="alert">{t("absent")}</p> : null}
        <FormFooter onClose={onClose} busy={edits.busy === "edit"} label={common("save")} />
      </form>
    </Dialog>
  );
}

type EditedFields = { name: string; type: string; previewId: string; metadata: Record<string, unknown> };

function getChange(asset: AssetView, fields: EditedFields): AssetEdit | undefined {
  const previousPreviewId = asset.previewId === asset.id ? "" : (asset.previewId ?? "");
  const hasNewMetadata = writeExactJson(fields.metadata) !== writeExactJson(asset.metadata);
  const change: AssetEdit = {
    ...(fields.name !== asset.name && { name: fields.name }),
    ...(fields.type !== (asset.mimeType ?? "") && fields.type !== "" && { mime_type: fields.type }),
    ...(fields.previewId !== previousPreviewId && { preview_id: fields.previewId === "" ? null : fields.previewId }),
    ...(hasNewMetadata && { user_metadata: fields.metadata }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

type MetadataEditorProps = {
  rows: readonly MetadataRow[];
  problems: ReadonlyMap<number, RowProblem>;
  onRows: (rows: MetadataRow[]) => void;
};

/** One row per value, with its path, value and type. */
export function MetadataEditor({ rows, problems, onRows }: MetadataEditorProps) {
  const t = useTranslations("assets.metadata");
  const updateRow = (rowIndex: number, changes: Partial<MetadataRow>) =>
    onRows(rows.map((row, index) => (index === rowIndex ? { ...row, ...changes } : row)));
  return (
    <div className="flex flex-col gap-2">
      <ul aria-label={t("rows")} className="flex max-h-[46vh] flex-col gap-1.5 overflow-y-auto p-1">
        {rows.map((row, rowIndex) => {
          const problem = problems.get(rowIndex);
          return (
            // Rows have no identity other than their index.
            <li key={rowIndex} className="flex flex-wrap items-center gap-1.5">
              <Input
                aria-label={t("path")}
                placeholder={t("pathPlaceholder")}
                value={row.path}
                maxLength={500}
                aria-invalid={problem === "path" || problem === "twice" || undefined}
                onChange={({ currentTarget }) => updateRow(rowIndex, { path: currentTarget.value })}
                className="min-w-0 flex-[3] basis-24 font-mono"
              />
              <Input
                aria-label={t("value")}
                placeholder={t("valuePlaceholder")}
                value={row.value}
                maxLength={5000}
                aria-invalid={problem === "number" || problem === "truth" || problem === "json" || undefined}
                onChange={({ currentTarget }) => updateRow(rowIndex, { value: currentTarget.value })}
                className="min-w-0 flex-[4] basis-28 font-mono"
              />
              <Select
                aria-label={t("type")}
                value={row.type}
                onChange={({ currentTarget }) =>
                  updateRow(rowIndex, { type: valueTypes.find((type) => type === currentTarget.value) ?? "guess" })
                }
              >
                <Options of={valueTypes.map((type) => [type, t(`types.${type}`)])} />
              </Select>
              <Button
                tone="quiet"
                size="icon"
                aria-label={t("remove")}
                onClick={() => onRows(rows.filter((_, index) => index !== rowIndex))}
              >
                <X aria-hidden="true" className="size-3.5" />
              </Button>
              {problem ? (
                <p role="alert" className="basis-full text-sm text-bad">
                  {t(`problem.${problem}`)}
                </p>
              ) : null}
            </li>
          );
        })}
      </ul>
      <Button size="small" className="w-fit" onClick={() => onRows([...rows, { path: "", type: "guess", value: "" }])}>
        {t("add")}
      </Button>
    </div>
  );
}
