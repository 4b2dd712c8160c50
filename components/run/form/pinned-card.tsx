import { useTranslations } from "next-intl";
import { Card } from "@/components/ui/card";
import { own } from "@/lib/contract/json/own";
import { FieldRow, type FieldRowProps, isEditable } from "./field-row";
import { type FormNode } from "./form-model";
import { type PlacedProblems } from "./node-problems";

type PinnedCardProps = Omit<FieldRowProps, "node" | "field" | "problems"> & { form: readonly FormNode[]; placed: PlacedProblems };

/** The pinned inputs, first on the page. They appear here instead of at their nodes: one input has one field. */
export function PinnedCard({ form, placed, ...row }: PinnedCardProps) {
  const t = useTranslations("run.pin");
  const pinned = form.flatMap((node) =>
    node.fields.filter((field) => isEditable(field) && row.settings.isPinned(node.id, field.name)).map((field) => ({ node, field })),
  );
  if (pinned.length === 0) return null;
  return (
    <Card title={t("title")} bodyClassName="flex flex-col gap-1.5">
      {pinned.map(({ node, field }) => (
        <FieldRow
          key={`${node.id}/${field.name}`}
          {...row}
          node={node}
          field={field}
          problems={own(own(placed.byNode, node.id)?.fields, field.name)}
          isAmongPinned
        />
      ))}
    </Card>
  );
}
