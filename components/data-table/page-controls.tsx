import { useTranslations } from "next-intl";
import { Input } from "@/components/ui/controls/input";
import { Select } from "@/components/ui/controls/select";
import { useNumber } from "@/components/ui/hooks/use-numbers";

const sizes = [25, 50, 100, 250, 500, 1000];

type PageControlsProps = {
  offset: number;
  limit: number;
  total?: number;
  /** The most rows that the service returns in one answer. */
  most?: number;
  onGo: (change: { offset: number; limit?: number }) => void;
};

/** The number of rows per page, and a jump to any page. When the size changes, the first visible row stays on the page. */
export function PageControls({ offset, limit, total, most = 1000, onGo }: PageControlsProps) {
  const t = useTranslations("common.paging");
  const number = useNumber();
  const page = Math.floor(offset / limit) + 1;
  const pages = total === undefined ? undefined : Math.max(1, Math.ceil(total / limit));
  const choices = [...new Set([...sizes.filter((size) => size <= most), limit])].sort((a, b) => a - b);
  return (
    <>
      <Select
        aria-label={t("size")}
        value={limit}
        onChange={({ currentTarget: { value } }) =>
          onGo({ limit: Number(value), offset: Math.floor(offset / Number(value)) * Number(value) })
        }
      >
        {choices.map((size) => (
          <option key={size} value={size}>
            {t("perPage", { count: size })}
          </option>
        ))}
      </Select>
      {pages !== undefined && pages > 1 ? (
        <form
          className="flex items-center gap-1.5 whitespace-nowrap"
          onSubmit={(event) => {
            event.preventDefault();
            const wanted = Number(new FormData(event.currentTarget).get("page"));
            if (Number.isInteger(wanted)) onGo({ offset: (Math.min(pages, Math.max(1, wanted)) - 1) * limit });
          }}
        >
          <Input
            key={page}
            name="page"
            inputMode="numeric"
            aria-label={t("page")}
            defaultValue={Math.min(page, pages)}
            className="w-14 text-right"
          />
          {t("ofPages", { count: number(pages) })}
        </form>
      ) : null}
    </>
  );
}
