/** What the embedded service keeps of a saved mask beside its result carries this tag: lists leave it out until it is asked for. */
export const MASK_LAYER_TAG = "mask-layer";
