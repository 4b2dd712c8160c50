import { type ComponentProps, useEffect, useRef } from "react";
import { cn } from "../cn";

type CheckboxProps = Omit<ComponentProps<"input">, "type" | "ref"> & { indeterminate?: boolean };

export function Checkbox({ indeterminate = false, className, ...rest }: CheckboxProps) {
  const box = useRef<HTMLInputElement>(null);
  const { checked } = rest;
  useEffect(() => {
    if (box.current) box.current.indeterminate = indeterminate;
  }, [indeterminate]);
  // A click before React was listening changed the checkbox but not the state: this resets the checkbox.
  useEffect(() => {
    if (box.current && checked !== undefined && box.current.checked !== checked) box.current.checked = checked;
  }, [checked]);
  return <input {...rest} ref={box} type="checkbox" className={cn("size-4 shrink-0 align-middle", className)} />;
}
