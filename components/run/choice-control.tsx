"use client";

import { useTranslations } from "next-intl";
import { Select } from "@/components/ui/select";
import { type ControlProps } from "./control-props";
import { type ChoiceValue } from "./input-spec";

/** Options go by their place, so that the number 2 stays a number and is not the text "2". */
export function ChoiceControl({ value, options, onChange, ...rest }: ControlProps & { options: readonly ChoiceValue[] }) {
  const t = useTranslations("run.field");
  const index = options.findIndex((option) => option === value);
  const isAbsent = value === undefined || value === "";
  return (
    <Select {...rest} value={String(index)} onChange={({ target }) => onChange(options[Number(target.value)])} className="max-w-full">
      {index < 0 ? (
        <option value="-1" disabled={isAbsent}>
          {isAbsent ? t("noChoice") : t("otherChoice", { value: String(value) })}
        </option>
      ) : null}
      {options.map((option, place) => (
        <option key={place} value={place}>
          {String(option)}
        </option>
      ))}
    </Select>
  );
}
