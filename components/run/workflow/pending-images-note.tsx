import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { Picture } from "@/components/ui/pictures/picture";
import { createThumbnailUrl } from "@/lib/browser/urls";
import { createFormBuilder, type FormNode } from "../form/form-model";
import { type OpenedFile, type PendingImage, type PendingImages } from "./opened-workflow";

const MAX_PICTURES_SHOWN = 8;

type PendingImagesNoteProps = {
  pendingImages: PendingImages;
  connection?: string;
  /** The open workflow's inputs. Undefined if no workflow is open. */
  inputs?: readonly PictureInput[];
  onUse?: (input: PictureInput, picture: PendingImage) => void;
  onCopies?: (input: PictureInput) => void;
  /** Closes the open workflow, which has no input for the pictures. This can be undone. */
  onChooseOther?: () => void;
  onDismiss: () => void;
};

/** Shows the pictures chosen for a run, and the inputs that can take them. Replaces nothing without confirmation. */
export function PendingImagesNote({
  pendingImages: { pictures, missing },
  connection,
  inputs,
  onUse,
  onCopies,
  onChooseOther,
  onDismiss,
}: PendingImagesNoteProps) {
  const t = useTranslations("run.pendingImages");
  const [firstPicture] = pictures;
  const isMultiple = pictures.length > 1;
  const messageKey = inputs === undefined ? "open" : inputs.length === 0 ? "noInput" : isMultiple ? "many" : "one";
  return (
    <section
      aria-label={t("title", { count: pictures.length })}
      className="flex flex-col gap-2.5 rounded-lg border border-accent bg-accent-soft px-3.5 py-3"
    >
      <div className="flex flex-wrap items-center gap-2.5">
        <ul className="flex flex-wrap gap-1.5">
          {pictures.slice(0, MAX_PICTURES_SHOWN).map(({ id, name }) => (
            <li key={id}>
              <Picture
                src={createThumbnailUrl({ asset: id, edge: 128, connection })}
                alt={name}
                width={52}
                height={39}
                className="h-[39px] w-[52px]"
              />
            </li>
          ))}
        </ul>
        <div className="min-w-0 flex-1 basis-56">
          <p className="truncate font-semibold">
            {isMultiple || !firstPicture ? t("title", { count: pictures.length }) : firstPicture.name}
          </p>
          <p className="text-ink-2">
            {t(messageKey)}
            {missing > 0 ? ` ${t("lost", { count: missing })}` : null}
          </p>
        </div>
        <Button tone="quiet" size="small" onClick={onDismiss}>
          {t("dismiss")}
        </Button>
      </div>
      {messageKey === "noInput" && onChooseOther ? (
        <Button className="self-start" onClick={onChooseOther}>
          {t("elsewhere")}
        </Button>
      ) : null}
      {inputs && inputs.length > 0 && firstPicture ? (
        <div className="flex flex-wrap gap-2">
          {inputs.map((input) => (
            <Button key={`${input.nodeId}/${input.name}`} onClick={() => (isMultiple ? onCopies?.(input) : onUse?.(input, firstPicture))}>
              {t(isMultiple ? "copiesOf" : "useAs", { count: pictures.length, input: input.name, id: input.nodeId, title: input.title })}
            </Button>
          ))}
        </div>
      ) : null}
    </section>
  );
}

// The inputs that take a picture. If there is only one, it is used automatically.

export type PictureInput = { nodeId: string; name: string; title: string };

export function listPictureInputs(form: readonly FormNode[]): PictureInput[] {
  return form.flatMap(({ id, title, fields }) =>
    fields.flatMap(({ name, control }) => (control.kind === "image" ? [{ nodeId: id, name, title }] : [])),
  );
}

/** Works without the service's node list: common nodes are recognised by class. */
export function findPictureInputs({ graph, order }: Pick<OpenedFile, "graph" | "order">): PictureInput[] {
  return listPictureInputs(createFormBuilder(graph, order)(graph));
}

export type PlacedPicture = { input: PictureInput; picture: PendingImage };

export function findOnlyTarget(file: Pick<OpenedFile, "graph" | "order">, pictures: readonly PendingImage[]): PlacedPicture | undefined {
  const [[input, ...otherInputs], [picture, ...otherPictures]] = [findPictureInputs(file), pictures];
  return input && picture && otherInputs.length + otherPictures.length === 0 ? { input, picture } : undefined;
}
