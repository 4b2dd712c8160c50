"use client";

import { Input } from "@/components/ui/input";
import { Textarea } from "@/components/ui/textarea";
import { Checkbox } from "@/components/ui/checkbox";
import { useTranslations } from "next-intl";
import { MASK } from "@/lib/contract/secret-texts";
import { ChoiceControl } from "./choice-control";
import { ColorControl } from "./color-control";
import { type ControlProps } from "./control-props";
import { type FormField } from "./form-model";
import { LinkText } from "./link-text";
import { NumberControl } from "./number-control";
import { PictureControl } from "./picture-control";
import { type PictureContext } from "./picture-context";

type FieldControlProps = ControlProps & {
  field: FormField;
  nodeTitle: string;
  picture: PictureContext;
  onRunning: (isRunning: boolean) => void;
};

export function FieldControl({ field, nodeTitle, picture, onRunning, ...props }: FieldControlProps) {
  const t = useTranslations("run.field");
  const { control, value } = field;
  switch (control.kind) {
    case "link":
      return <LinkText link={control} />;
    case "unconnected":
      return <span className="block py-1 text-ink-3">{t("notConnected")}</span>;
    case "fixed":
      return (
        <code title={t("fixed")} className="block overflow-hidden py-1 font-mono text-sm text-ellipsis whitespace-nowrap text-ink-2">
          {JSON.stringify(value)}
        </code>
      );
    case "switch":
      return <SwitchControl {...props} />;
    case "choice":
      return <ChoiceControl {...props} options={control.options} />;
    case "color":
      return <ColorControl {...props} name={field.name} />;
    case "number":
      return (
        <span className="flex flex-wrap items-center gap-x-2.5">
          <NumberControl {...props} integer={control.integer} className="w-36" />
          <Range min={control.min} max={control.max} />
        </span>
      );
    case "image":
      return <PictureControl {...props} {...picture} nodeTitle={nodeTitle} onRunning={onRunning} />;
    case "long-text":
      return <Textarea {...text(props, t("masked"))} rows={rowsOf(value)} />;
    case "text":
      return <Input {...text(props, t("masked"))} />;
  }
}

/** Large enough for what is in it, and never the whole page; the corner makes it larger. */
function rowsOf(value: unknown): number {
  const text = String(value ?? "").slice(0, 2000);
  return Math.min(14, Math.max(3, Math.ceil(text.length / 70), text.split("\n").length));
}

/** A masked value is shown as what it is: nothing that could be sent. */
function text({ value, onChange, ...rest }: ControlProps, masked: string) {
  const isHidden = value === MASK;
  return {
    ...rest,
    ...(isHidden && { placeholder: masked }),
    value: isHidden ? "" : String(value ?? ""),
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  };
}

function SwitchControl({ value, onChange, ...rest }: ControlProps) {
  return (
    <span className="flex h-[30px] items-center">
      <Checkbox {...rest} checked={value === true} onChange={({ target }) => onChange(target.checked)} />
    </span>
  );
}

/** Only limits that say something: catalogues use 2^31 and 2^64 for "none". */
function Range({ min, max }: { min?: number; max?: number }) {
  const t = useTranslations("run.field");
  const isBounded = (limit: number | undefined): limit is number => limit !== undefined && Math.abs(limit) < 2 ** 31 - 1;
  const words =
    isBounded(min) && isBounded(max)
      ? t("range", { min, max })
      : isBounded(min)
        ? t("atLeast", { min })
        : isBounded(max)
          ? t("atMost", { max })
          : undefined;
  return words ? <span className="text-sm whitespace-nowrap text-ink-3">{words}</span> : null;
}
