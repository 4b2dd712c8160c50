// Which inputs of a workflow take a picture; puts a picture into the input if there is only one. Pure.

import { formBuilder, type FormNode } from "../form/form-model";
import { type OpenedFile } from "./opened";
import { type PendingImage } from "./pending-images";

export type PictureInput = { nodeId: string; name: string; title: string };

export function pictureInputs(form: readonly FormNode[]): PictureInput[] {
  return form.flatMap(({ id, title, fields }) =>
    fields.flatMap(({ name, control }) => (control.kind === "image" ? [{ nodeId: id, name, title }] : [])),
  );
}

/** Works without the service's list of nodes: well-known nodes are recognised by their class. */
export function pictureInputsOf({ graph, order }: Pick<OpenedFile, "graph" | "order">): PictureInput[] {
  return pictureInputs(formBuilder(graph, order)(graph));
}

export type Placed = { input: PictureInput; picture: PendingImage };

/** With one picture and one input there is nothing to choose. */
export function onlyPlace(file: Pick<OpenedFile, "graph" | "order">, pictures: readonly PendingImage[]): Placed | undefined {
  const [[input, ...otherInputs], [picture, ...otherPictures]] = [pictureInputsOf(file), pictures];
  return input && picture && otherInputs.length + otherPictures.length === 0 ? { input, picture } : undefined;
}
