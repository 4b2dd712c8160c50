"use client";

import { Checkbox } from "@/components/ui/checkbox";
import { useTranslations } from "next-intl";
import { writeExactJson } from "@/lib/contract/exact-json";
import { BoxControl } from "./box-control";
import { ChoiceControl } from "./choice-control";
import { ColorControl, HexColorControl } from "./color-control";
import { type ControlProps } from "./control-props";
import { type FormField } from "./form-model";
import { type Limit } from "./input-spec";
import { LinkText } from "./link-text";
import { MediaControl } from "./media-control";
import { NumberControl } from "./number-control";
import { PictureControl } from "./picture-control";
import { type PictureContext } from "./picture-context";
import { TextControl } from "./text-control";

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
          {writeExactJson(value)}
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
    case "hex-color":
      return <HexColorControl {...props} name={field.name} />;
    case "box":
      return <BoxControl {...props} name={field.name} />;
    case "media":
      return <MediaControl {...props} media={control.media} options={control.options} picture={picture} onRunning={onRunning} />;
    case "image":
      return <PictureControl {...props} options={control.options} picture={picture} nodeTitle={nodeTitle} onRunning={onRunning} />;
    case "long-text":
      return <TextControl {...props} isLong />;
    case "text":
      return <TextControl {...props} />;
  }
}

function SwitchControl({ value, onChange, ...rest }: ControlProps) {
  return (
    <span className="flex h-[30px] items-center">
      <Checkbox {...rest} checked={value === true} onChange={({ target }) => onChange(target.checked)} />
    </span>
  );
}

/** Only limits that say something: catalogues use 2^31 and 2^64 for "none". */
function Range({ min, max }: { min?: Limit; max?: Limit }) {
  const t = useTranslations("run.field");
  const isBounded = (limit: Limit | undefined): limit is number => typeof limit === "number" && Math.abs(limit) < 2 ** 31 - 1;
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
