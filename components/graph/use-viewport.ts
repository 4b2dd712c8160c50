import { useCallback } from "react";
import { type Size, usePanZoom } from "@/components/ui/hooks/use-pan-zoom";
import { type GraphLayout, type PlacedNode } from "./graph-layout";
import { centredOn, isReadable, started } from "./viewport";

/** Until a person moves it, the drawing shows all nodes if readable, otherwise the node that needs attention, or its beginning. */
export function useViewport(layout: GraphLayout, calling?: string) {
  const start = useCallback((size: Size) => started(layout, size, calling), [layout, calling]);
  const panZoom = usePanZoom({ content: layout, start });
  const { view, size, move } = panZoom;
  return {
    ...panZoom,
    /** Does not move a node that is readable already. */
    reveal: (node: PlacedNode) => {
      if (!isReadable(node, view, size)) move(centredOn(node, view, size));
    },
  };
}
