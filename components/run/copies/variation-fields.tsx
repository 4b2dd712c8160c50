import { useTranslations } from "next-intl";
import { useId, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { CheckList } from "@/components/ui/controls/check-list";
import { Input, Textarea } from "@/components/ui/controls/fields";
import { getOwn } from "@/lib/contract/json/json";
import { AssetPicker } from "../form/controls/asset-picker";
import { type PictureContext } from "../form/controls/picture-api";
import { type FormField } from "../form/form-model";
import { getOptions, type VariationInput, type VariationKind } from "./variation";

type VariationFieldsProps = {
  field: FormField;
  kind: VariationKind;
  input: VariationInput;
  picture: PictureContext;
  onChange: (change: Partial<VariationInput>) => void;
};

export function VariationFields({ field, kind, input, picture, onChange }: VariationFieldsProps) {
  const t = useTranslations("run.copies");
  switch (kind) {
    case "random":
      return <NumberField label={t("count")} value={input.count} onChange={(count) => onChange({ count })} />;
    case "range":
      return (
        <div className="flex flex-wrap gap-x-4 gap-y-2">
          <NumberField label={t("from")} value={input.from} onChange={(from) => onChange({ from })} />
          <NumberField label={t("to")} value={input.to} onChange={(to) => onChange({ to })} />
          <NumberField label={t("step")} value={input.step} onChange={(step) => onChange({ step })} />
        </div>
      );
    case "list":
      return <ListField field={field} value={input.list} onChange={(list) => onChange({ list })} />;
    case "chosen":
      return (
        <fieldset className="max-h-52 overflow-y-auto rounded-md border border-line px-3 py-2">
          <legend className="sr-only">{t("way.chosen")}</legend>
          <CheckList options={getOptions(field)} selected={input.chosen} onChange={(literals) => onChange({ chosen: literals })}>
            {(option) => (typeof option === "boolean" ? t(option ? "on" : "off") : String(option))}
          </CheckList>
        </fieldset>
      );
    case "pictures":
      return <PicturesField values={input.pictures} picture={picture} onChange={(pictures) => onChange({ pictures })} />;
  }
}

function NumberField({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  const id = useId();
  return (
    <span className="flex items-center gap-2">
      <label htmlFor={id} className="text-ink-2">
        {label}
      </label>
      <Input
        id={id}
        inputMode="decimal"
        autoComplete="off"
        value={value}
        onChange={({ target }) => onChange(target.value)}
        className="w-32"
      />
    </span>
  );
}

function ListField({ field, value, onChange }: { field: FormField; value: string; onChange: (value: string) => void }) {
  const t = useTranslations("run.copies");
  const id = useId();
  const isNumber = field.control.kind === "number" || field.control.kind === "color";
  return (
    <div>
      <label htmlFor={id} className="text-ink-2">
        {t(isNumber ? "listNumbers" : field.control.kind === "long-text" ? "listTexts" : "listLines")}
      </label>
      <Textarea
        id={id}
        rows={5}
        spellCheck={false}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        className="mt-1 font-mono text-sm"
      />
    </div>
  );
}

type PicturesFieldProps = { values: readonly string[]; picture: PictureContext; onChange: (values: string[]) => void };

function PicturesField({ values, picture, onChange }: PicturesFieldProps) {
  const t = useTranslations("run.copies");
  const [isPicking, setPicking] = useState(false);
  return (
    <div className="flex flex-col items-start gap-2">
      <Button onClick={() => setPicking(true)}>{t("pickPictures")}</Button>
      <ol className="max-h-40 w-full list-inside list-decimal overflow-y-auto text-sm text-ink-2">
        {values.map((value) => (
          <li key={value} className="truncate">
            {getOwn(picture.ownNames, value) ?? value}
          </li>
        ))}
      </ol>
      <AssetPicker
        isOpen={isPicking}
        picture={picture}
        isMultiple
        onClose={() => setPicking(false)}
        onPicked={(assets) => {
          setPicking(false);
          for (const { value, name } of assets) picture.onNamed(value, name);
          onChange([...new Set([...values, ...assets.map(({ value }) => value)])]);
        }}
      />
    </div>
  );
}
