/** A turn that settles and claims fewer is not worth what a turn costs by itself. */
export const FEWEST_JOBS = 16;
/** One that settles or claims more keeps Redis from others for too long. */
export const MOST_JOBS = 500;
