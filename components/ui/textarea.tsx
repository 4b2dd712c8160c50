import { type ComponentProps } from "react";
import { cn } from "./cn";
import { fieldStyle } from "./field";

export function Textarea({ className, rows = 4, ...rest }: ComponentProps<"textarea">) {
  return <textarea {...rest} rows={rows} className={cn(fieldStyle, "py-1.5", className)} />;
}
