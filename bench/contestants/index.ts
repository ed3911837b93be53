import type { Contestant, ContestantName } from './contestant.js';

/** Loads one contestant and none of the others: each runs in a process that knows nothing of its peers. */
export async function loadContestant(name: ContestantName): Promise<Contestant> {
  switch (name) {
    case 'ours':
      return (await import('./ours.js')).ours;
    case 'bullmq':
      return (await import('./bullmq.js')).bullmq;
    case 'bee-queue':
      return (await import('./bee-queue.js')).beeQueue;
    case 'groupmq':
      return (await import('./groupmq.js')).groupmq;
    case 'floor':
      return (await import('./floor.js')).floor;
  }
}
