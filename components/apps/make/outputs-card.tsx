import { useTranslations } from "next-intl";
import { useMemo } from "react";
import { outputNodes } from "@/components/run/form/checks";
import { Card } from "@/components/ui/card";
import { Checkbox } from "@/components/ui/controls/checkbox";
import { Input } from "@/components/ui/controls/input";
import { type AppDefinition, type AppOutput } from "@/lib/contract/apps/app";
import { outputDraft } from "@/lib/contract/apps/draft";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";

type OutputsCardProps = { definition: AppDefinition; catalogue?: ObjectInfo; onChange: (outputs: AppOutput[]) => void };

/** Which output nodes are results of the app, and their names. None chosen means all. */
export function OutputsCard({ definition: { graph, outputs }, catalogue, onChange }: OutputsCardProps) {
  const t = useTranslations("apps.make.outputs");
  const found = useMemo(() => {
    const nodes = new Set([...outputNodes(graph, catalogue), ...outputs.map(({ node }) => node)]);
    return [...nodes].flatMap((node) => outputDraft(graph, node, catalogue) ?? []);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the list stays as it is while boxes in it are ticked
  }, [graph, catalogue]);
  return (
    <Card title={t("title")} bodyClassName="flex flex-col gap-2">
      <p className="text-ink-2">{t("text")}</p>
      <ul className="flex flex-col gap-1.5">
        {found.map((one) => {
          const chosen = outputs.find(({ node }) => node === one.node);
          return (
            <li key={one.node} className="flex min-h-[30px] flex-wrap items-center gap-2.5">
              <label className="flex min-w-0 flex-1 items-center gap-2">
                <Checkbox
                  checked={chosen !== undefined}
                  onChange={({ target }) => onChange(target.checked ? [...outputs, one] : outputs.filter(({ node }) => node !== one.node))}
                />
                <span className="truncate">{one.label}</span>
              </label>
              {chosen ? (
                <Input
                  aria-label={t("label", { name: one.label })}
                  required
                  maxLength={80}
                  value={chosen.label}
                  onChange={({ target }) =>
                    onChange(outputs.map((output) => (output === chosen ? { ...output, label: target.value } : output)))
                  }
                  className="w-48"
                />
              ) : null}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
