/** A turn that settles or claims more keeps Redis from others for too long. */
export const MOST_JOBS = 500;
