import { useRef } from "react";

type FilePick = {
  onFiles: (files: File[]) => void;
  accept?: string;
  isMany?: boolean;
  isFolder?: boolean;
  /** A phone opens its camera instead. */
  isCamera?: boolean;
  testId?: string;
};

/** A hidden file input, to be rendered anywhere on the page, and a function that opens its chooser. */
export function useFilePick({ onFiles, accept, isMany, isFolder, isCamera, testId }: FilePick) {
  const element = useRef<HTMLInputElement>(null);
  // Missing in the types, but supported by every browser.
  const asFolder: Record<string, string> = isFolder ? { webkitdirectory: "" } : {};
  const input = (
    <input
      {...asFolder}
      ref={element}
      type="file"
      accept={accept}
      multiple={isMany || isFolder}
      capture={isCamera ? "environment" : undefined}
      hidden
      data-testid={testId}
      onChange={({ target }) => {
        onFiles([...(target.files ?? [])]);
        // Choosing the same file again must fire a change again.
        target.value = "";
      }}
    />
  );
  return { input, open: () => element.current?.click() };
}
