import { SCRIPTS } from '../../lib/store/redis/scripts/embedded.js';
import { TURN_SCRIPTS } from '../../lib/store/redis/session/redis-session.js';

const SHAS = [...TURN_SCRIPTS].map((script) => SCRIPTS[script].sha);

/** Whether what goes over a connection is the turn of a worker or a relay. */
export const takesTurn = (request: string): boolean => SHAS.some((sha) => request.includes(sha));
