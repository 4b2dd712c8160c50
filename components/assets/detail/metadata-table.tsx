import { writeExactJson } from "@/lib/contract/exact-json";

/** Names and values; what is no text is shown as the JSON that it is. */
export function MetadataTable({ values, none }: { values: Record<string, unknown>; none: string }) {
  const entries = Object.entries(values);
  if (entries.length === 0) return <span className="text-ink-3">{none}</span>;
  return (
    <table className="w-full table-fixed font-mono text-sm">
      <tbody>
        {entries.map(([name, value]) => (
          <tr key={name} className="align-top">
            <th scope="row" className="w-[38%] pr-2 pb-0.5 text-left font-normal break-words text-ink-3">
              {name}
            </th>
            <td className="pb-0.5 break-words">{typeof value === "string" ? value : writeExactJson(value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
