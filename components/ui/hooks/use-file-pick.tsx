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

/** An input that has to be somewhere on the page, and what opens its chooser. */
export function useFilePick({ onFiles, accept, isMany, isFolder, isCamera, testId }: FilePick) {
  const element = useRef<HTMLInputElement>(null);
  // Not among the attributes that the types know, yet every browser has it.
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
        // The same file chosen again must be a change again.
        target.value = "";
      }}
    />
  );
  return { input, open: () => element.current?.click() };
}
