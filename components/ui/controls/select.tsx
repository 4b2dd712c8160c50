import { type ComponentProps } from "react";
import { cn } from "../cn";

/** The browser's own list, as wide as the chosen option: it works with thumb, keyboard and screen reader, and needs no script. */
export function Select({ className, ...rest }: ComponentProps<"select">) {
  return <select {...rest} className={cn("field", className)} />;
}
