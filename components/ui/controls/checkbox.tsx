import { type ComponentProps, useEffect, useRef } from "react";
import { cn } from "../cn";

type CheckboxProps = Omit<ComponentProps<"input">, "type" | "ref"> & { indeterminate?: boolean };

export function Checkbox({ indeterminate = false, className, ...rest }: CheckboxProps) {
  const box = useRef<HTMLInputElement>(null);
  const { checked } = rest;
  useEffect(() => {
    if (box.current) box.current.indeterminate = indeterminate;
  }, [indeterminate]);
  // A press before React was there has ticked the box and done nothing else.
  useEffect(() => {
    if (box.current && checked !== undefined && box.current.checked !== checked) box.current.checked = checked;
  }, [checked]);
  return <input {...rest} ref={box} type="checkbox" className={cn("size-4 shrink-0 align-middle", className)} />;
}
