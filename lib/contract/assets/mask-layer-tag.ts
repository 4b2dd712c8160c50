/** The tag on files that the embedded service keeps beside the result of a saved mask; lists leave them out unless asked for the tag. */
export const MASK_LAYER_TAG = "mask-layer";
