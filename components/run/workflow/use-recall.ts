import { useEffect, useEffectEvent } from "react";

/** After the page is hydrated: what a reload cut off in the middle is told of. */
export function useRecall(recall: () => void): void {
  const once = useEffectEvent(recall);
  useEffect(() => once(), []);
}
