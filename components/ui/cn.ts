/** Class names joined. Two of one element must not contradict each other: what a caller may change is in the layer below the utilities. */
export { clsx as cn } from "clsx";
