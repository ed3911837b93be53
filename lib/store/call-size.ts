/** What a call of a handler weighs, and how many jobs it gets at most. */
export interface CallSize {
  weight: number;
  size: number;
}

const ONE_JOB: CallSize = { weight: 1, size: 1 };

/** What weight of places so many running jobs of one handler take, if its calls are full. */
export function weightOfJobs(count: number, { weight, size } = ONE_JOB): number {
  return Math.ceil(count / size) * weight;
}
