import { type ComponentProps } from "react";
import { cn } from "../cn";

/** The platform's own list, as wide as what is chosen: it opens with a thumb, with keys and with a screen reader, and costs no script. */
export function Select({ className, ...rest }: ComponentProps<"select">) {
  return <select {...rest} className={cn("field", className)} />;
}
