/** Joins class names. Classes of one element must not conflict. Styles that callers may override are in a CSS layer below the utilities. */
export { clsx as cn } from "clsx";
