/** Joins class names. Classes of one element must not conflict: styles that callers may override are in the layer below utilities. */
export { clsx as cn } from "clsx";
