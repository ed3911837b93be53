import { SCRIPTS } from '../../lib/store/redis/scripts/embedded.js';

/** Whether what goes over a connection is the turn of a worker, a whole one, an ordinary one or one of groups in order. */
export const takesTurn = (request: string): boolean =>
  [SCRIPTS.turn, SCRIPTS.ordinary, SCRIPTS['in-order']].some(({ sha }) => request.includes(sha));
