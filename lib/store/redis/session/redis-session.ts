import { QueueClosedError, QueueUnavailableError } from '../../../core/errors.js';
import type { QueueSettings } from '../../../core/options/queue-options.js';
import type { Session, SessionHints, Turn, TurnAnswer } from '../../job-store.js';
import { Caller } from '../calls/caller.js';
import type { QueueKeys } from '../keys.js';
import { causeOf } from '../link/call-error.js';
import type { MessageLink, RedisLink } from '../link/redis-link.js';
import type { ServerClock } from '../link/server-clock.js';
import { ask, type GivenArguments } from '../scripts/bound-script.js';
import type { ScriptName } from '../scripts/embedded.js';
import {
  type InOrderArguments,
  type InOrderReply,
  inOrderScript,
  type OrdinaryArguments,
  type OrdinaryReply,
  ordinaryScript,
  type RelayArguments,
  type RelayReply,
  readTurnReply,
  registerScript,
  relayScript,
  type TurnArguments,
  type TurnReply,
  turnScript,
} from '../scripts/turn/contract.js';
import { HintChannel } from './hint-channel.js';
import { type Listing, SessionArguments, type SessionIdentity } from './session-arguments.js';
import {
  type Decoded,
  decodeOrdinary,
  decodeRelay,
  decodeTurn,
  ordinaryFromBytes,
  turnFromBytes,
} from './turn-codec.js';

const NAMES_A_CALL = 1_000;
/** A turn's receipt must outlive every copy of the call that is still on its way. */
const KEEP_TURN_RECEIPT_MS = 600_000;
/** How long one try of a turn may take, longer only while the connection shows signs of life; then it is sent again, under the same number. */
const TRY_MS = 5_000;
/** Registering is tried again so often: names of others may have had to go first, and somebody may delete what is written. */
const REGISTERED_AT_MOST = 5;

/** What all sessions of this process share: a connection, and one more for messages. */
export interface SessionLink {
  readonly connection: RedisLink;
  readonly listener: MessageLink;
}

/** What is sent of a turn: an ordinary one, one of groups in order, a whole one, or one of a relay, which moves jobs instead of running them. */
type Sent =
  | { readonly script: 'ordinary'; readonly args: OrdinaryArguments }
  | { readonly script: 'in-order'; readonly args: InOrderArguments }
  | { readonly script: 'turn'; readonly args: TurnArguments }
  | { readonly script: 'relay'; readonly args: RelayArguments };

// A record, so that another script that takes turns and is missing here does not compile.
const TURNS: Record<Sent['script'], true> = { ordinary: true, 'in-order': true, turn: true, relay: true };
/** The scripts that take turns. */
export const TURN_SCRIPTS: ReadonlySet<ScriptName> = new Set(Object.keys(TURNS) as ScriptName[]);

/** A turn that was sent and has not been answered. It is sent again with the very same arguments, unless it is to be taken whole. */
interface TurnInFlight {
  readonly turn: Turn;
  readonly caller: Caller;
  readonly cursor: string;
  readonly listing: Listing;
  call: Sent;
}

type AnyReply = OrdinaryReply | InOrderReply | TurnReply | RelayReply;

/** A whole turn did not ask what the queue uses. */
const NOT_ASKED = '-';
/** What the scripts of ordinary turns and of groups in order answer where they have written nothing and the turn is to be taken whole. */
const WHOLE = 'whole';

/** The talk of one consumer in this process with one queue in Redis. */
export class RedisSession implements Session {
  private readonly ordinaryScript;
  private readonly inOrderScript;
  private readonly turnScript;
  private readonly relayScript;
  private readonly registerScript;
  private readonly hints: HintChannel;
  private readonly args: SessionArguments;
  /** Two at most. `turn` with one that is in flight sends the same call again. */
  private readonly inFlight: TurnInFlight[] = [];
  private readonly freeCallers: Caller[] = [];
  /** Where the last turn that was answered stopped looking. */
  private cursor = '';
  /** When the recurrences of the queue are to be tended, a time of the link, by the last turn that looked. */
  private tendAt: number | undefined;
  /**
   * What the queue uses, as far as this session knows: '' what ordinary turns know; 'groups' nothing else but groups; 'more' what only whole turns
   * know, or there is more to trim.
   */
  private uses: '' | 'groups' | 'more' = '';

  constructor(
    private readonly link: SessionLink,
    private readonly clock: ServerClock,
    private readonly keys: QueueKeys,
    private readonly who: SessionIdentity,
    private readonly settings: QueueSettings,
    private readonly options: { given: GivenArguments; isUsed(): void; isListed(session: string): void },
  ) {
    const { id, crew, target } = who;
    this.hints = new HintChannel(link.listener, clock, keys, id);
    this.args = new SessionArguments(link.connection, this.hints, who, settings, clock);
    this.registerScript = registerScript(keys, { crew });
    this.ordinaryScript = ordinaryScript(keys);
    this.inOrderScript = inOrderScript(keys);
    this.turnScript = turnScript(keys, { crew });
    this.relayScript = target && relayScript(keys, { crew, target: target.key });
  }

  async turn(turn: Turn, signal: AbortSignal, heard?: () => void): Promise<TurnAnswer> {
    const flight = this.inFlight.find((each) => each.turn === turn) ?? this.begin(turn);
    let seenMs: number | undefined;
    this.hints.turnGoesOut();
    try {
      for (let registered = 0; ; ) {
        try {
          const reply = await this.send(flight, heard);
          if (reply[0] === 'refused') throw this.targetError(String(reply[2]));
          if (reply[0] === WHOLE) {
            if (String(reply[2]) !== '') this.uses = 'more';
            flight.call = this.whole(flight);
          } else if (reply[0] === 'unregistered') {
            if (++registered > REGISTERED_AT_MOST)
              throw new Error(`${this.keys.base}handles:${this.who.crew} does not keep what is written to it.`);
            await this.register();
          } else {
            // A turn that had run before is answered with the present time, but it read the queue earlier; one that goes on from a cursor reads
            // no job before that.
            if (reply[0] === 'done' && flight.cursor === '') seenMs = Number(reply[1]);
            return this.takeIn(flight, reply);
          }
        } catch (error) {
          // Only Redis being away is waited out; what it refuses for good is for the caller to tell.
          if (signal.aborted || error instanceof QueueClosedError || !mayPass(error)) throw error;
        }
      }
    } finally {
      this.hints.turnIsBack(seenMs);
    }
  }

  listen(hints: SessionHints): void {
    this.hints.listen(hints);
  }

  get trouble(): Error | undefined {
    const { trouble } = this.link.connection;
    return trouble && causeOf(trouble);
  }

  leave(): void {
    this.hints.leave();
  }

  private takeIn(flight: TurnInFlight, reply: AnyReply): TurnAnswer {
    this.inFlight.splice(this.inFlight.indexOf(flight), 1);
    this.freeCallers.push(flight.caller);
    const { answer, cursor, hasNotLooked } = this.decode(flight.call, reply, flight.turn);
    emptied(reply);
    this.cursor = cursor;
    if (!hasNotLooked) {
      this.tendAt = answer.tendInMs === undefined ? undefined : this.link.connection.now() + answer.tendInMs;
      return answer;
    }
    if (this.tendAt === undefined) return answer;
    return { ...answer, tendInMs: Math.max(0, this.tendAt - this.link.connection.now()) };
  }

  private async send({ caller, call }: TurnInFlight, heard?: () => void): Promise<AnyReply> {
    const { connection } = this.link;
    const sentAt = connection.now();
    const before = connection.received;
    const giveUpAt = sentAt + TRY_MS;
    const traits = { isPatient: true, heard };
    let reply: AnyReply;
    if (call.script === 'ordinary')
      reply = await caller.send(this.ordinaryScript, call.args, giveUpAt, { ...traits, fromBytes: ordinaryFromBytes });
    else if (call.script === 'in-order')
      reply = await caller.send(this.inOrderScript, call.args, giveUpAt, { ...traits, fromBytes: ordinaryFromBytes });
    else if (call.script === 'turn')
      reply = await caller.send(this.turnScript, call.args, giveUpAt, { ...traits, fromBytes: turnFromBytes });
    else reply = await caller.send(this.relayScript!, call.args, giveUpAt, traits);
    connection.downlink.note(connection.received - before, connection.now() - sentAt);
    return reply;
  }

  private decode({ script }: Sent, reply: AnyReply, turn: Turn): Decoded {
    if (script === 'ordinary' || script === 'in-order') {
      const decoded = decodeOrdinary(reply as OrdinaryReply, turn, this.settings);
      // An ordinary turn hands on whatever frees a place for others.
      decoded.answer.freesNothingForOthers = script === 'ordinary' && turn.handlers.length === 0;
      return decoded;
    }
    if (script === 'relay') return decodeRelay(reply as RelayReply);
    const { uses } = readTurnReply(reply as TurnReply);
    if (uses !== NOT_ASKED) this.uses = uses;
    return decodeTurn(reply as TurnReply, turn, this.settings);
  }

  /** Each turn in flight has a caller of its own, as one answers for its last call only. */
  private begin(turn: Turn): TurnInFlight {
    const { link, clock, keys, who } = this;
    this.options.isUsed();
    const options = { keepReceiptMs: KEEP_TURN_RECEIPT_MS, given: this.options.given };
    const caller = this.freeCallers.pop() ?? new Caller(link.connection, clock, keys, options, `${who.id}.`);
    caller.begin();
    const about = { turn, caller, cursor: turn.looksAnew ? '' : this.cursor, listing: this.args.listingOf(turn) };
    if (about.listing.presence === 'here') this.options.isListed(who.id);
    const flight: TurnInFlight = { ...about, call: this.write(about) };
    this.inFlight.push(flight);
    return flight;
  }

  private write(about: Omit<TurnInFlight, 'call'>): Sent {
    const { turn, cursor, listing } = about;
    if (this.who.target || this.uses === 'more' || !this.args.isOrdinary(turn, cursor, listing))
      return this.whole(about);
    if (this.uses === '') return { script: 'ordinary', args: this.args.ofOrdinary(turn, listing) };
    if (this.args.isInOrder(turn, listing)) return { script: 'in-order', args: this.args.ofInOrder(turn) };
    return this.whole(about);
  }

  private whole({ turn, cursor, listing }: Omit<TurnInFlight, 'call'>): Sent {
    const { target } = this.who;
    if (target) return { script: 'relay', args: this.args.ofRelay(turn, cursor, listing, target) };
    return { script: 'turn', args: this.args.ofTurn(turn, cursor, listing) };
  }

  /** Nothing has moved. */
  private targetError(found: string): Error {
    const { key, type } = this.who.target!;
    return new Error(`relay: the key '${key}' is a ${found}, expected a ${type} or nothing. No job has been moved.`);
  }

  private async register(): Promise<void> {
    const { names } = this.who;
    for (let i = 0; i < names.length; i += NAMES_A_CALL) {
      const size = i === 0 ? names.length : 0;
      const args = { size, names: names.slice(i, i + NAMES_A_CALL) };
      await ask(this.link.connection, this.registerScript, args, this.link.connection.now() + TRY_MS);
    }
  }
}

/** Frees the texts of a reply early: replies that outlived their answers held 250 bytes a job and cost 12 % of a drain's speed. */
function emptied(reply: unknown[]): void {
  reply.length = 0;
}

function mayPass(error: unknown): boolean {
  return error instanceof QueueUnavailableError && error.redisCode === undefined;
}
