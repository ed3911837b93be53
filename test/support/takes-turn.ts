import { SCRIPTS } from '../../lib/store/redis/scripts/embedded.js';

/** Whether what goes over a connection is the turn of a worker, a whole one or an ordinary one. */
export const takesTurn = (request: string): boolean =>
  request.includes(SCRIPTS.turn.sha) || request.includes(SCRIPTS.ordinary.sha);
