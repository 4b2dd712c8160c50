import { useState } from "react";
import { useCopy } from "../hooks/use-copy";

type CopyButtonProps = {
  /** A function if only the browser can compute it. */
  text: string | (() => string);
  label: string;
  className?: string;
};

export function CopyButton({ text, label, className }: CopyButtonProps) {
  const copy = useCopy();
  const [isCopied, setCopied] = useState(false);
  async function press() {
    if (!(await copy(typeof text === "string" ? text : text()))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  }
  return (
    <button type="button" aria-label={label} onClick={() => void press()} className={className ? `copy ${className}` : "copy"}>
      <svg className="icon" viewBox="0 0 14 14" aria-hidden="true">
        <path d={isCopied ? "M2.75 7.5 5.6 10.25 11.25 4" : "M5 5h6.5v6.5H5zM9 2.5H2.5V9"} />
      </svg>
    </button>
  );
}
