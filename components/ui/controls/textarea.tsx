import { type ComponentProps } from "react";
import { cn } from "../cn";

export function Textarea({ className, rows = 4, ...rest }: ComponentProps<"textarea">) {
  return <textarea {...rest} rows={rows} className={cn("field max-sm:text-[16px]", className)} />;
}
