/** A job as log lines call it. */
export function titleOf({ queue, id, name }: { queue: string; id: string; name: string }, begins = false): string {
  return `${begins ? 'Job' : 'job'} '${name}' (${id}) of queue '${queue}'`;
}
