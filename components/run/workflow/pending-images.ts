/** Pictures that came to be used in a run, and how many could not come. */
export type PendingImages = { pictures: readonly PendingImage[]; lost: number };
export type PendingImage = { id: string; value: string; name: string };
