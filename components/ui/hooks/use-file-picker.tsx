import { useRef } from "react";

type FilePickerOptions = {
  onFiles: (files: File[]) => void;
  accept?: string;
  isMultiple?: boolean;
  isFolder?: boolean;
  isCamera?: boolean;
  testId?: string;
};

/** A hidden file input, to be rendered anywhere on the page, and a function that opens its chooser. */
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
        // Otherwise choosing the same file again fires no change event.
        target.value = "";
      }}
    />
  );
  return { input, open: () => element.current?.click() };
}
