/** Joins class names. Two classes of one element must not conflict: styles that a caller may change are in the layer below utilities. */
export { clsx as cn } from "clsx";
