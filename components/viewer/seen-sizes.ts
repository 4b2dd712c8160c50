import { create } from "zustand";
import { type Size } from "@/components/ui/hooks/viewport";

/** The sizes in pixels of files that were shown in full, by address, so that other parts of this tab can show them. */
const useSizes = create<ReadonlyMap<string, Size>>(() => new Map());
const MOST = 1000;

export function noteSize(src: string, size: Size): void {
  const sizes = useSizes.getState();
  const known = sizes.get(src);
  if (known?.width === size.width && known.height === size.height) return;
  useSizes.setState(new Map([...[...sizes].slice(-MOST + 1), [src, size]]), true);
}

export function useSeenSize(src: string | undefined): Size | undefined {
  return useSizes((sizes) => (src === undefined ? undefined : sizes.get(src)));
}
