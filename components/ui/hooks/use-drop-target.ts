import { type DragEvent, useState } from "react";

/** Props for an element that accepts dropped files, and whether files are dragged over it. Folders are only in the transfer. */
export function useDropTarget(onFiles: (files: File[], transfer: DataTransfer) => void) {
  // Children send enter and leave events as well: only their balance says whether the pointer is inside.
  const [depth, setDepth] = useState(0);
  const own = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes("Files")) return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return {
    isOver: depth > 0,
    props: {
      onDragEnter: (event: DragEvent) => void (own(event) && setDepth((now) => now + 1)),
      onDragOver: (event: DragEvent) => void own(event),
      onDragLeave: (event: DragEvent) => void (own(event) && setDepth((now) => Math.max(0, now - 1))),
      onDrop: (event: DragEvent) => {
        if (!own(event)) return;
        setDepth(0);
        onFiles([...event.dataTransfer.files], event.dataTransfer);
      },
    },
  };
}
