/** Pictures that were chosen for a run, and how many could not be loaded. */
export type PendingImages = { pictures: readonly PendingImage[]; lost: number };
export type PendingImage = { id: string; value: string; name: string };
