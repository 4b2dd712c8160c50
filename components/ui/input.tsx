import { type ComponentProps } from "react";
import { cn } from "./cn";
import { fieldStyle } from "./field";

export function Input({ className, ...rest }: ComponentProps<"input">) {
  return <input {...rest} className={cn(fieldStyle, "h-[30px]", className)} />;
}
