import { useRef } from "react";
import { type Dropped, filesOfInput } from "@/lib/browser/files/dropped-files";

type FilePick = { onFiles: (picked: Dropped) => void; isFolder?: boolean; testId?: string };

/** An input that has to be somewhere, and what opens its chooser. */
export function useFilePick({ onFiles, isFolder = false, testId }: FilePick) {
  const element = useRef<HTMLInputElement>(null);
  // Not among the attributes that the types know, yet every browser has it.
  const asFolder: Record<string, string> = isFolder ? { webkitdirectory: "" } : {};
  const input = (
    <input
      {...asFolder}
      ref={element}
      type="file"
      multiple
      hidden
      data-testid={testId}
      onChange={({ target }) => {
        onFiles(filesOfInput(target.files));
        // The same file chosen again must be a change again.
        target.value = "";
      }}
    />
  );
  return { input, open: () => element.current?.click() };
}
