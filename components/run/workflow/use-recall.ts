import { useEffect, useEffectEvent } from "react";

/** Once the page is hydrated: asks about what a reload interrupted. */
export function useRecall(recall: () => void): void {
  const once = useEffectEvent(recall);
  useEffect(() => once(), []);
}
