"use client";

import { useTranslations } from "next-intl";
import { isObject } from "@/lib/contract/json";
import { type ControlProps } from "./control-props";
import { boxEdges } from "./input-spec";
import { NumberControl } from "./number-control";

/** A rectangle in pixels, as four numbers; whatever else a service keeps with it stays. */
export function BoxControl({ id, name, value, onChange, className: _, ...rest }: ControlProps & { name: string }) {
  const t = useTranslations("run.field.box");
  const box = isObject(value) ? value : {};
  return (
    <span role="group" aria-label={name} className="flex flex-wrap gap-x-3 gap-y-1.5">
      {boxEdges.map((edge, place) => (
        <label key={edge} className="flex items-center gap-1.5 text-ink-2">
          {t(edge)}
          <NumberControl
            {...rest}
            id={place === 0 ? id : `${id}-${edge}`}
            value={box[edge]}
            integer
            onChange={(changed) => onChange({ ...box, [edge]: changed })}
            className="w-20"
          />
        </label>
      ))}
    </span>
  );
}
