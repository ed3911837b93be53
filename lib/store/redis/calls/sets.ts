import type { SetState } from '../../../core/job/job-set.js';
import type { KnownSet, NextJob, QueueSets } from '../../job-store.js';
import { type CompletionListener, completionsOf } from '../codec/completion-fields.js';
import {
  encodeCodec,
  encodeFlags,
  encodeRoute,
  encodeSetOfCompletion,
  encodeSettings,
  withPayload,
} from '../codec/envelope-text.js';
import type { QueueKeys } from '../keys.js';
import type { QueueLink } from '../link/queue-link.js';
import { ask } from '../scripts/bound-script.js';
import { setsScript } from '../scripts/look/contract.js';
import { closeSetScript, openSetScript } from '../scripts/set/contract.js';
import type { CallerPool } from './caller-pool.js';

const STATES: Record<string, SetState> = { o: 'open', c: 'closed', d: 'done' };
const FIELDS_A_SET = 8;
/** How many sets one call looks at. */
const SETS_A_CALL = 100;

/** The sets of one queue. What their members do to them stands in scripts/parts/follow-ups.lua. */
export class RedisSets implements QueueSets {
  private readonly scripts;

  constructor(
    private readonly callers: CallerPool,
    private readonly link: QueueLink,
    private readonly keys: QueueKeys,
    private readonly options: {
      keepIdsMs: number;
      commandTimeoutMs: number;
      isUsed(): void;
      completed: CompletionListener;
    },
  ) {
    this.scripts = { open: openSetScript(keys), close: closeSetScript(keys), look: setsScript(keys) };
  }

  async open(id: string, done: NextJob | undefined): Promise<{ isOpened: boolean; state: SetState }> {
    this.options.isUsed();
    const args = { id, keepMs: this.options.keepIdsMs, job: done ? encodeCompletion(id, done) : '' };
    const [, , isOpened, state] = await this.callers.call(this.scripts.open, args, done?.payload.length);
    return { isOpened: isOpened === '1', state: STATES[state]! };
  }

  async close(id: string): Promise<boolean> {
    const [, , isClosed, ...completions] = await this.callers.call(this.scripts.close, { id });
    this.options.completed(completionsOf(completions));
    return isClosed === '1';
  }

  async read(id: string): Promise<KnownSet | undefined> {
    return (await this.look({ id, isDone: false, from: 0 })).sets[0];
  }

  async list(states: readonly SetState[], limit: number): Promise<KnownSet[]> {
    const found: KnownSet[] = [];
    for (const isDone of [false, true]) {
      const isWanted = isDone ? states.includes('done') : states.includes('open') || states.includes('closed');
      for (let from = 0, isLast = !isWanted; !isLast && found.length < limit; from += SETS_A_CALL) {
        const step = await this.look({ id: '', isDone, from });
        isLast = step.isLast;
        found.push(...step.sets.filter(({ state }) => states.includes(state)));
      }
    }
    return found.slice(0, limit);
  }

  private async look(about: { id: string; isDone: boolean; from: number }) {
    const giveUpAt = performance.now() + this.options.commandTimeoutMs;
    const args = { ...about, base: this.keys.base, limit: SETS_A_CALL };
    const [isLast, ...fields] = await ask(this.link, this.scripts.look, args, giveUpAt);
    const sets: KnownSet[] = [];
    for (let i = 0; i < fields.length; i += FIELDS_A_SET) sets.push(readSet(fields.slice(i, i + FIELDS_A_SET)));
    return { isLast: isLast === '1', sets };
  }
}

function readSet([id = '', state = '', ...numbers]: readonly string[]): KnownSet {
  const [openedAtMs = 0, pending = 0, completed = 0, dead = 0, discarded = 0, cancelled = 0] = numbers.map(Number);
  const total = pending + completed + dead + discarded + cancelled;
  return { id, state: STATES[state]!, openedAtMs, total, pending, completed, dead, discarded, cancelled };
}

/** As `job` of the set's record: see scripts/parts/follow-ups.lua. The id of a completion job is made, and not remembered. */
function encodeCompletion(set: string, job: NextJob): string | Buffer {
  const third = `${encodeCodec(job)}${encodeSettings(job)}${encodeSetOfCompletion(set)}`;
  const lines = [job.id, Math.ceil(job.due.delayMs), encodeRoute(job), `${encodeFlags(false, job)}${third}`];
  return withPayload(`${lines.join('\n')}\n`, job.payload);
}
