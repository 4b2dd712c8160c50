import { type DragEvent, useState } from "react";

/** Props for an element that accepts dropped files, and whether files are dragged over it. `transfer` also contains folders. */
export function useDropTarget(onFiles: (files: File[], transfer: DataTransfer) => void) {
  // Children also fire enter and leave events, so only their balance shows whether the pointer is inside.
  const [depth, setDepth] = useState(0);
  const accept = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes("Files")) return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return {
    isOver: depth > 0,
    props: {
      onDragEnter: (event: DragEvent) => void (accept(event) && setDepth((current) => current + 1)),
      onDragOver: (event: DragEvent) => void accept(event),
      onDragLeave: (event: DragEvent) => void (accept(event) && setDepth((current) => Math.max(0, current - 1))),
      onDrop: (event: DragEvent) => {
        if (!accept(event)) return;
        setDepth(0);
        onFiles([...event.dataTransfer.files], event.dataTransfer);
      },
    },
  };
}
