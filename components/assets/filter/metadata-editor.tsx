import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { Input, Options, Select } from "@/components/ui/controls/fields";
import { type MetadataRow, type RowProblem, valueTypes } from "./metadata-rows";

type MetadataEditorProps = {
  rows: readonly MetadataRow[];
  problems: ReadonlyMap<number, RowProblem>;
  onRows: (rows: MetadataRow[]) => void;
};

/** One row per value: its name, the value, and its type if guessing would be wrong. */
export function MetadataEditor({ rows, problems, onRows }: MetadataEditorProps) {
  const t = useTranslations("assets.metadata");
  const change = (at: number, part: Partial<MetadataRow>) => onRows(rows.map((row, index) => (index === at ? { ...row, ...part } : row)));
  return (
    <div className="flex flex-col gap-2">
      <ul aria-label={t("rows")} className="flex max-h-[46vh] flex-col gap-1.5 overflow-y-auto p-1">
        {rows.map((row, at) => {
          const problem = problems.get(at);
          return (
            // Rows have no identity other than their index.
            <li key={at} className="flex flex-wrap items-center gap-1.5">
              <Input
                aria-label={t("path")}
                placeholder={t("pathPlaceholder")}
                value={row.path}
                maxLength={500}
                aria-invalid={problem === "path" || problem === "twice" || undefined}
                onChange={({ currentTarget }) => change(at, { path: currentTarget.value })}
                className="min-w-0 flex-[3] basis-24 font-mono"
              />
              <Input
                aria-label={t("value")}
                placeholder={t("valuePlaceholder")}
                value={row.value}
                maxLength={5000}
                aria-invalid={problem === "number" || problem === "truth" || problem === "json" || undefined}
                onChange={({ currentTarget }) => change(at, { value: currentTarget.value })}
                className="min-w-0 flex-[4] basis-28 font-mono"
              />
              <Select
                aria-label={t("type")}
                value={row.type}
                onChange={({ currentTarget }) => change(at, { type: valueTypes.find((type) => type === currentTarget.value) ?? "guess" })}
              >
                <Options of={valueTypes.map((type) => [type, t(`types.${type}`)])} />
              </Select>
              <Button tone="quiet" size="icon" aria-label={t("remove")} onClick={() => onRows(rows.filter((_, index) => index !== at))}>
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
