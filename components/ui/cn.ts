import { type ClassValue, clsx } from "clsx";
import { twMerge } from "tailwind-merge";

/** Class names joined; of two that contradict each other the later one wins. */
export function cn(...values: ClassValue[]): string {
  return twMerge(clsx(values));
}
