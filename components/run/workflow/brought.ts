/** Pictures that came to be used in a run, and how many could not come. */
export type Brought = { pictures: readonly BroughtPicture[]; lost: number };
export type BroughtPicture = { id: string; value: string; name: string };
