import { type DragEvent, useRef, useState } from "react";

type FilePickerOptions = {
  onFiles: (files: File[]) => void;
  accept?: string;
  isMultiple?: boolean;
  isFolder?: boolean;
  isCamera?: boolean;
  testId?: string;
};

/** Returns a hidden file input, which can be rendered anywhere on the page, and a function that opens the file picker. */
export function useFilePicker({ onFiles, accept, isMultiple, isFolder, isCamera, testId }: FilePickerOptions) {
  const element = useRef<HTMLInputElement>(null);
  // Missing in React's types, but all browsers support it.
  const folderAttributes: Record<string, string> = isFolder ? { webkitdirectory: "" } : {};
  const input = (
    <input
      {...folderAttributes}
      ref={element}
      type="file"
      accept={accept}
      multiple={isMultiple || isFolder}
      capture={isCamera ? "environment" : undefined}
      hidden
      data-testid={testId}
      onChange={({ target }) => {
        onFiles([...(target.files ?? [])]);
        // Without this, choosing the same file again would not fire a change event.
        target.value = "";
      }}
    />
  );
  return { input, open: () => element.current?.click() };
}

/** Returns whether the event comes from a dialog that the element opened. React also bubbles events out of portals. */
export function isFromDialog({ target, currentTarget }: { target: EventTarget; currentTarget: Element }): boolean {
  return target instanceof Element && target.closest("dialog") !== currentTarget.closest("dialog");
}

/** Returns props for an element that accepts dropped files, and whether files are dragged over it. `transfer` also contains folders. */
export function useDropTarget(onFiles: (files: File[], transfer: DataTransfer) => void) {
  // Children also fire enter and leave events, so a counter tracks whether the pointer is inside.
  const [depth, setDepth] = useState(0);
  const acceptFiles = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes("Files")) return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return {
    isOver: depth > 0,
    props: {
      onDragEnter: (event: DragEvent) => void (acceptFiles(event) && setDepth((current) => current + 1)),
      onDragOver: (event: DragEvent) => void acceptFiles(event),
      onDragLeave: (event: DragEvent) => void (acceptFiles(event) && setDepth((current) => Math.max(0, current - 1))),
      onDrop: (event: DragEvent) => {
        if (!acceptFiles(event)) return;
        setDepth(0);
        if (!isFromDialog(event)) onFiles([...event.dataTransfer.files], event.dataTransfer);
      },
    },
  };
}
