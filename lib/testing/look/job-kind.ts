/** The jobs of one name: in one queue, or in any where `queue` is missing. */
export interface JobKind {
  readonly name: string;
  readonly queue?: string;
}

export function isOfKind(job: { readonly name: string; readonly queue: string }, { name, queue }: JobKind): boolean {
  return job.name === name && (queue === undefined || job.queue === queue);
}
