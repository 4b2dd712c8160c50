import { useTranslations } from "next-intl";
import { useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { toRows } from "../filter/metadata-rows";

/** More letters than this are opened by whoever wants to read them. */
const LONG = 240;

/** Names and values. What lies inside another has its path as its name, as the filter and the editor write it. */
export function MetadataTable({ label, values }: { label: string; values: Record<string, unknown> }) {
  return (
    <table aria-label={label} className="w-full table-fixed font-mono text-sm">
      <tbody>
        {toRows(values).map(({ path, value }) => (
          <tr key={path} className="border-t border-line align-top">
            <th scope="row" className="w-[34%] py-1 pr-3 text-left font-normal break-words text-ink-3">
              {path}
            </th>
            <td className="py-1 break-words whitespace-pre-wrap">
              <Value text={value} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Value({ text }: { text: string }) {
  const t = useTranslations("assets.details");
  const [isOpen, setOpen] = useState(false);
  if (text.length <= LONG) return text;
  return (
    <>
      {isOpen ? text : `${text.slice(0, LONG)}…`}{" "}
      <Button size="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} className="font-sans">
        {t(isOpen ? "showLess" : "showAll")}
      </Button>
    </>
  );
}
